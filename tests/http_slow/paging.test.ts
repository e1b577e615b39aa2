/**
 * Paging with `after` gives the same pages as an offset, at any depth, and skips no file while files are added and
 * deleted.
 */
import cases from "../acceptance/paging.ts";
import { acceptance } from "../support/stack/suite.ts";

await acceptance(cases);
