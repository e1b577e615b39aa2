/** A deletion adds a tombstone, a version like any other, and keeps all earlier versions. */
import cases from "../acceptance/delete.ts";
import { acceptance } from "../support/stack/suite.ts";

await acceptance(cases);
