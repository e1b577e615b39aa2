/** `ifVersion`: the version that the file must be at, in a JSON body, or in the query where the body is bytes or none. */
import { z } from "zod";
import { failField } from "../errors.ts";
import { pick } from "../http/query.ts";
import type { RequestData } from "../http/request_data.ts";
import { validate } from "../http/validate.ts";
import { INTEGER_MAX } from "../limits.ts";
import { wholeNumber } from "./schemas.ts";

const description = "The version that the file at `path` must be at; 0: there must be none.";

/** The field of a body. */
export const ifVersionField = { ifVersion: z.int().min(0).max(INTEGER_MAX).nullish().meta({ description }) };

/** The query parameter. */
export const ifVersionParameter = {
  ifVersion: wholeNumber(0).optional().meta({
    type: "integer",
    minimum: 0,
    maximum: INTEGER_MAX,
    description: `${description} Where the body is JSON, it is a field there.`,
  }),
};

const query = z.object(ifVersionParameter);

/** That of the query. Throws VALIDATION_ERROR; also where there is one though the body is JSON, whose field counts. */
export function parseIfVersion(
  data: RequestData,
  isJson: boolean,
): { readonly ifVersion: number | undefined } {
  const { ifVersion } = validate(query, pick(data.query, ["ifVersion"]));
  if (isJson && ifVersion !== undefined) {
    failField("ifVersion", "is a field of the JSON body; in the query it goes with a body of bytes");
  }
  return { ifVersion };
}

/** Query parameters of a write whose body may be the bytes themselves. `raw` marks it so, whatever its Content-Type. */
export const rawQuery = z.object({
  raw: z.enum(["", "true", "false"]).optional().meta({
    description: "Present, or `true`: the body is the bytes themselves.",
  }),
  ...ifVersionParameter,
});
