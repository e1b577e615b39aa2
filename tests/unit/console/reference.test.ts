/** The API reference reads the service's own document, and sends what its forms hold. */
import { assert, assertEquals } from "@std/assert";
import { openapiDocument } from "../../../supabase/functions/api/openapi/document.ts";
import { ROUTES } from "../../../supabase/functions/api/routes/mod.ts";
import {
  exampleText,
  type Operation,
  operationsOf,
  parseDocument,
  responseOf,
  schemaOf,
  takesKey,
} from "../../../supabase/console/src/views/reference/document.ts";
import { curlLine, missingIn, requestOf } from "../../../supabase/console/src/views/reference/request.ts";
import { boundsOf, membersOf, typeOf } from "../../../supabase/console/src/views/reference/schema_text.ts";

const BASE_URL = "https://ref.supabase.co/functions/v1/api";
const document = parseDocument(openapiDocument(ROUTES));
const operations = operationsOf(document);

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("it is missing");
  return value;
}

function operation(id: string): Operation {
  return present(operations.find(({ operationId }) => operationId === id));
}

Deno.test("reference: every operation has a topic that the page shows", () => {
  const topics = document.tags.map(({ name }) => name);
  assertEquals(operations.filter(({ tags }) => !topics.includes(tags[0] ?? "")), []);
});

Deno.test("reference: what takes a key, or needs none, can be sent; what takes an account or the operator cannot", () => {
  const unsent = operations.filter((one) => !takesKey(one)).map(({ operationId }) => operationId);
  assertEquals(unsent.toSorted(), ["createProject", "deleteAccount", "getAccount", "listProjects", "sweep"]);
});

Deno.test("reference: slashes of a path stay, other characters are encoded, and empty fields are not sent", () => {
  const values = {
    "path path": "a b/c#1?.md",
    "query metadata": "present",
    "query version": "2",
    "query at": "",
  };
  const request = requestOf(BASE_URL, operation("readFile"), values, null, "oa_key");
  assertEquals(request.url, `${BASE_URL}/files/a%20b/c%231%3F.md?version=2&metadata`);
  assertEquals(request.headers, { "x-api-key": "oa_key" });
  assertEquals(request.body, null);
  assertEquals(missingIn(operation("readFile"), { ...values, "path path": "" }), ["path"]);
});

Deno.test("reference: a key is not sent where none is asked for", () => {
  assertEquals(requestOf(BASE_URL, operation("health"), {}, null, "oa_key").headers, {});
});

Deno.test("reference: the command for a shell is the same request, whatever the body holds", async () => {
  const body = { type: "application/json", text: `{"path": "it's.md", "content": "$HOME \\"x\\""}` };
  const line = curlLine(requestOf(BASE_URL, operation("writeFile"), {}, body, "oa_key"));
  const script = `curl() { printf '%s\\n' "$@"; }\n${line}`;
  const { stdout } = await new Deno.Command("sh", { args: ["-c", script] }).output();
  assertEquals(new TextDecoder().decode(stdout).trimEnd().split("\n"), [
    ..."-sS -X POST".split(" "),
    `${BASE_URL}/files`,
    "-H",
    "x-api-key: oa_key",
    "-H",
    "content-type: application/json",
    "--data-binary",
    body.text,
  ]);
});

Deno.test("reference: the fields of a refusal are those of every failure, with the codes of this one", () => {
  const response = responseOf(document, present(operation("readFile").responses["404"]));
  const schema = present(response.content?.["application/json"]?.schema);
  const error = present(membersOf(document, schema).fields.find(({ name }) => name === "error"));
  const { fields } = membersOf(document, schemaOf(document, error.schema).schema);
  assertEquals(fields.map(({ name }) => name).slice(0, 2), ["code", "message"]);
  const bounds = boundsOf(present(fields.find(({ name }) => name === "code")).schema);
  assert(bounds.includes("FILE_NOT_FOUND"), bounds);
});

Deno.test("reference: types, bounds and examples are said in words", () => {
  const write = operation("writeFile");
  const content = present(write.requestBody?.content["application/json"]);
  const { fields } = membersOf(document, present(content.schema));
  const said = (name: string) => {
    const field = fields.find((one) => one.name === name);
    return field && [typeOf(document, field.schema), boundsOf(field.schema), field.isRequired];
  };
  assertEquals(said("content"), ["string", "at most 10485760 characters", true]);
  assertEquals(said("isBase64"), ["boolean or null", "", false]);
  assertEquals(
    typeOf(document, { type: "array", items: { $ref: "#/components/schemas/Change" } }),
    "list of Change",
  );
  assertEquals(JSON.parse(exampleText(content)).path, "notes/plan.md");
});
