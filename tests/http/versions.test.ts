/** Every write makes a numbered version; earlier versions stay readable, as they were. */
import cases from "../acceptance/versions.ts";
import { acceptance } from "../support/stack/suite.ts";

await acceptance(cases);
