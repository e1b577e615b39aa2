/** Values that all routes of history refuse alike, before they read a file, and without any change. */
import cases from "../acceptance/bad_values.ts";
import { acceptance } from "../support/stack/suite.ts";

await acceptance(cases);
