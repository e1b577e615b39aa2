/** How the ports call SQL functions. */
import type { z } from "zod";
import type { Answer, Caller } from "./answer.ts";
import type * as schemas from "./schemas.ts";

/** The parameters of an SQL function by their names here: `keyHash` is its `p_key_hash`. Undefined is null. */
export type Parameters = Readonly<Record<string, unknown>>;

/** The values that the database answers, by the names of their schemas. */
export type Values = {
  readonly [Name in keyof typeof schemas]: z.output<(typeof schemas)[Name]>;
};

/** Calls an SQL function for the holder of a key; the schema validates the value. */
export type Call = <Name extends keyof Values>(
  name: string,
  caller: Caller,
  parameters: Parameters,
  schema: Name,
) => Promise<Answer<Values[Name]>>;

/** Calls an SQL function for the service's own work, without an API key and without counting. */
export type CallInternal = <Name extends keyof Values>(
  name: string,
  parameters: Parameters,
  schema: Name,
) => Promise<Values[Name]>;
