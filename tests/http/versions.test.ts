/** Every write adds a numbered version, and earlier versions stay readable unchanged. */
import cases from "../acceptance/versions.ts";
import { acceptance } from "../support/stack/suite.ts";

await acceptance(cases);
