/** The library: the files of a project, for programs in Node, Deno, Bun and browsers. */
import { VERSION as OF_RELEASE } from "../functions/api/version.ts";

export { Filestore } from "./library/filestore.ts";
export type { EditedRecord } from "./library/filestore.ts";
export { FilestoreBackend } from "./library/deep_agents.ts";
export type * from "./library/deep_agents.ts";
export { FilestoreError } from "./library/errors.ts";
export type { Api, Call, Connection, Query } from "./library/api.ts";
export type * from "./library/options.ts";
export type * from "./library/records.ts";

/** The version of the release to which this library belongs. */
export const VERSION: string = OF_RELEASE;
