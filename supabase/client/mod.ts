/** The library: the files of a project, for programs in Node, Deno, Bun and browsers. */
export { Filestore } from "./library/filestore.ts";
export type { EditedRecord } from "./library/filestore.ts";
export { FilestoreBackend } from "./library/deep_agents.ts";
export type * from "./library/deep_agents.ts";
export { FilestoreError } from "./library/errors.ts";
export type { Api, Call, Connection, Query } from "./library/api.ts";
export type * from "./library/options.ts";
export type * from "./library/records.ts";
