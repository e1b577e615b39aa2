/** Reads small JSON bodies, which have no content of files. */
import type { z } from "zod";
import { type BodySource, isLargeBody } from "../http/body.ts";
import { readBody } from "../http/json_request.ts";
import type { Gate } from "./gate.ts";

/** The validated body. A request with a large body is authorized before it is read. Throws what `readBody` throws. */
export async function readFields<Fields>(
  source: BodySource & { readonly gate: Pick<Gate, "authorize"> },
  schema: z.ZodType<Fields>,
  bytesMax?: number,
): Promise<Fields> {
  const authorize = isLargeBody(source.request.headers) ? () => source.gate.authorize() : null;
  const { fields } = await readBody(source, schema, authorize, bytesMax);
  return fields;
}
