/** A NUL, which Postgres cannot store: 400 in every text that would reach it, and content like any other in a file. */
import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import { type Account, owner } from "../support/client/accounts.ts";
import { administrator } from "../support/client/erasure.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

const operation = z.looseObject({
  security: z.array(z.record(z.string(), z.unknown())),
  parameters: z.array(z.looseObject({ name: z.string(), in: z.string(), required: z.boolean() })),
  requestBody: z.looseObject({
    content: z.looseObject({ "application/json": z.looseObject({ schema: z.unknown() }).optional() }),
  }).optional(),
});
const document = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), operation)) })
  .parse((await service.request(null, "GET", "/openapi.json")).body);
type Operation = z.infer<typeof operation>;

/** What a body needs besides, and what a text of it may be. */
const FIELDS = {
  ...{ path: "a.txt", content: "x", oldString: "one", newString: "two", destination: "b.txt", version: 1 },
  ...{ name: "name", for: "read", command: "view" },
};
const OF_CONTENT = ["content", "oldString", "newString"];
const NUL = "a\0b";

const textProperty = z.looseObject({ type: z.unknown().optional(), anyOf: z.array(z.unknown()).optional() });
const record = z.looseObject({ properties: z.record(z.string(), textProperty).optional() });

/** The fields of a body: of the first form, where there are several. */
function fieldsOf({ requestBody }: Operation) {
  const schema = Object(requestBody?.content["application/json"]?.schema);
  const [first] = z.array(record.optional()).parse(schema.anyOf ?? schema.oneOf ?? [schema]);
  return first?.properties ?? {};
}

/** Those that are texts, or may be. */
function textFields(described: Operation): string[] {
  return Object.entries(fieldsOf(described))
    .filter(([, property]) => /"type":"string"|"enum":\["/.test(JSON.stringify(property)))
    .map(([name]) => name).filter((name) => !OF_CONTENT.includes(name));
}

/** One that can be changed. */
async function newKey(own: Pick<Account, "request">): Promise<string> {
  const { body } = await own.request("POST", "/project/apikeys", { body: { name: "key" } });
  return z.object({ data: z.object({ id: z.string() }) }).parse(body).data.id;
}

const tested: string[] = [];
for (const [path, item] of Object.entries(document.paths)) {
  for (const [method, described] of Object.entries(item)) {
    // Of tools the arguments: see below.
    if (path === "/mcp") continue;
    if (described.security.length === 0 || "secretKey" in (described.security[0] ?? {})) continue;
    const { parameters, requestBody } = described;
    const places = [
      ...parameters.filter(({ in: place }) => place === "path").map(({ name }) => ["path", name] as const),
      ...parameters.filter(({ in: place }) => place === "query").map(({ name }) => ["query", name] as const),
      ...requestBody ? textFields(described).map((name) => ["body", name] as const) : [],
    ];
    for (const [place, name] of places) {
      tested.push(`${place} ${name}`);
      test(`400: a NUL in ${name} (${place}) of ${method.toUpperCase()} ${path}; nothing is stored`, async () => {
        const isOfFiles = "apiKey" in (described.security[0] ?? {});
        const isErasure = name === "purge" || path.startsWith("/files/redact/");
        const project = isOfFiles ? await files() : await owner(service);
        const own = isErasure && "project" in project
          ? await administrator(service, project.project.id)
          : project;
        const keyId = path.startsWith("/project/apikeys/{id}") ? await newKey(own) : "";
        const before = await service.tables();
        const required = parameters.filter(({ in: place, required }) => place === "query" && required)
          .map((one): [string, string] => [one.name, "x"]);
        const query = new URLSearchParams(required.filter(([one]) => one !== name));
        // The type of bytes, which come with a path.
        if (place === "query" && method === "post" && name === "contentType") query.set("path", "a.txt");
        if (place === "query") query.set(name, NUL);
        const url = path.replace(
          /\{(\w+)\}/g,
          (_, one: string) => place === "path" && one === name ? "a%00b" : keyId || "a.txt",
        );
        const known = fieldsOf(described);
        const sound = Object.fromEntries(Object.entries(FIELDS).filter(([field]) => field in known));
        const answer = await own.request(method.toUpperCase(), `${url}${query.size > 0 ? `?${query}` : ""}`, {
          ...requestBody && { body: { ...sound, ...place === "body" && { [name]: NUL } } },
        });
        assert(!answer.text.includes("is not a known"), answer.text);
        // An id that is none is the id of no key.
        const isToldToModel = path === "/memory" && place === "body";
        assertEquals(answer.status, isToldToModel ? 200 : name === "id" ? 404 : 400, answer.text);
        if (isToldToModel) assert(answer.text.includes('"is_error":true'), answer.text);
        assertEquals(await service.tables(), before);
      });
    }
  }
}

const toolList = z.object({
  result: z.object({
    tools: z.array(z.object({
      name: z.string(),
      inputSchema: z.looseObject({
        properties: z.record(z.string(), z.looseObject({ type: z.string() })),
        required: z.array(z.string()).optional(),
      }),
    })),
  }),
});
const toolResult = z.object({
  result: z.looseObject({
    isError: z.boolean().optional(),
    content: z.array(z.looseObject({ text: z.string() })),
  }),
});
/** Arguments that are content. */
const OF_TOOL_CONTENT = ["content", "old_string", "new_string"];
const ARGUMENTS: Readonly<Record<string, unknown>> = {
  ...{ path: "a.txt", destination: "b.txt", pattern: "x", query: "x", content: "x" },
  ...{ old_string: "x", new_string: "y", version: 1 },
};

test("a NUL in an argument of a tool is an error that the model reads; nothing is stored", async () => {
  const own = await files();
  const ask = async (method: string, params: unknown) => {
    const body = { jsonrpc: "2.0", id: 1, method, params };
    const answer = await own.request("POST", "/mcp", { body });
    assertEquals(answer.status, 200, answer.text);
    return answer.body;
  };
  const { result: { tools } } = toolList.parse(await ask("tools/list", {}));
  assert(tools.length > 10);
  const before = await service.tables();
  for (const { name, inputSchema: { properties, required = [] } } of tools) {
    const given = Object.fromEntries(required.map((argument) => [argument, ARGUMENTS[argument]]));
    for (const [argument, { type }] of Object.entries(properties)) {
      if (type !== "string" || OF_TOOL_CONTENT.includes(argument)) continue;
      const asked = { name, arguments: { ...given, [argument]: NUL } };
      const { result: { isError, content } } = toolResult.parse(await ask("tools/call", asked));
      assert(
        isError && /^(VALIDATION_ERROR|INVALID_PATH): /.test(content[0]?.text ?? ""),
        JSON.stringify([asked, content]),
      );
    }
  }
  assertEquals(await service.tables(), before);
});

test("every place for a text is among them", () => {
  for (
    const place of ["query glob", "query q", "query directory", "query after", "query path", "query lines"]
  ) {
    assert(tested.includes(place), place);
  }
  for (
    const place of ["body path", "body destination", "body name", "body pathPrefix", "path path", "path id"]
  ) {
    assert(tested.includes(place), place);
  }
});

test("200: content has a NUL like any other character, and an edit finds it", async () => {
  const own = await files();
  await own.write("a.txt", "a\0b");
  await own.edit("a.txt", "\0", "\0\0");
  assertEquals((await own.read("a.txt")).content, "a\0\0b");
});
