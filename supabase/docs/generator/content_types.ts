/** The content types, from the schema of a write. */
import { code, wrap } from "./markdown.ts";
import { PATHS } from "./openapi.ts";

/** Throws `Error` if the write's `contentType` is no longer a list of values. */
export function contentTypesList(): string {
  const parameter = PATHS["/files"]?.["post"]?.parameters.find(({ name }) => name === "contentType");
  if (!parameter?.schema.enum) throw new Error("POST /files has no list of content types");
  return wrap(`${parameter.schema.enum.map(code).join(", ")}.`, "");
}
