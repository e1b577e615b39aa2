/** Values that several records contain, and the type that a schema of the contract describes. */
import { z } from "zod";
import { RUN_ID_RULE, RUN_ID_SHAPE } from "./run_id.ts";

/** The read-only type of the record that a schema describes. */
export type Wire<Schema extends z.ZodType> = DeepReadonly<z.output<Schema>>;
type DeepReadonly<Value> = Value extends object
  ? { readonly [Name in keyof Value]: DeepReadonly<Value[Name]> }
  : Value;

/** ISO 8601, UTC, milliseconds, `Z`. */
export const time = z.iso.datetime({ precision: 3 });
export const count = z.int().min(0);
export const version = z.int().min(1);

/** An opaque position in the change feed of one project: that of a version, or the beginning. */
export const cursor = z.string().regex(/^[0-9a-f]{32}$/, {
  error: "must be a cursor of the change feed",
  abort: true,
});
export type Cursor = z.infer<typeof cursor>;

export const runId = z.string().regex(RUN_ID_SHAPE, RUN_ID_RULE);

/** What a key may do: read files, change files, change the project's name and keys. */
export const scope = z.enum(["read", "write", "admin"]);
export type Scope = z.infer<typeof scope>;
