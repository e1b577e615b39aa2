/** Entity tags of reads and writes, and the 304 that saves the content. RFC 9110, sections 8.8.3 and 13.1.2. */
import cases from "../acceptance/entity_tags.ts";
import { acceptance } from "../support/stack/suite.ts";

await acceptance(cases);
