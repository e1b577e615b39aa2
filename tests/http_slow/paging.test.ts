/** Paging by `after`: the same pages as by offset, at any depth, and none that slip while files come and go. */
import cases from "../acceptance/paging.ts";
import { acceptance } from "../support/stack/suite.ts";

await acceptance(cases);
