/** What the routes of history refuse before they look at a file, alike for all of them; and that nothing changes. */
import cases from "../acceptance/bad_values.ts";
import { acceptance } from "../support/stack/suite.ts";

await acceptance(cases);
