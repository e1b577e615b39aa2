/** A NUL, which Postgres cannot store: 400 in every text that would reach it, and content like any other in a file. */
import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import { owner } from "../support/client/accounts.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

const operation = z.looseObject({
  security: z.array(z.record(z.string(), z.unknown())),
  parameters: z.array(z.looseObject({ name: z.string(), in: z.string(), required: z.boolean() })),
  requestBody: z.looseObject({
    content: z.looseObject({ "application/json": z.looseObject({ schema: z.unknown() }) }),
  }).optional(),
});
const document = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), operation)) })
  .parse((await service.request(null, "GET", "/openapi.json")).body);
type Operation = z.infer<typeof operation>;

/** What a body needs besides, and what a text of it may be. */
const FIELDS = {
  ...{ path: "a.txt", content: "x", oldString: "one", newString: "two", destination: "b.txt", version: 1 },
  name: "name",
};
const OF_CONTENT = ["content", "oldString", "newString"];
const NUL = "a\0b";

const textProperty = z.looseObject({ type: z.unknown().optional(), anyOf: z.array(z.unknown()).optional() });
const record = z.looseObject({ properties: z.record(z.string(), textProperty) });

/** The fields of a body that are texts, or may be. */
function textFields({ requestBody }: Operation): string[] {
  const schema = Object(requestBody?.content["application/json"].schema);
  const [first] = z.array(record).parse("anyOf" in schema ? schema.anyOf : [schema]);
  return Object.entries(first?.properties ?? {})
    .filter(([, property]) => /"type":"string"|"enum":\["/.test(JSON.stringify(property)))
    .map(([name]) => name).filter((name) => !OF_CONTENT.includes(name));
}

const tested: string[] = [];
for (const [path, item] of Object.entries(document.paths)) {
  for (const [method, described] of Object.entries(item)) {
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
        const own = isOfFiles ? await files() : await owner(service);
        const before = await service.tables();
        const required = parameters.filter(({ in: place, required }) => place === "query" && required)
          .map((one): [string, string] => [one.name, "x"]);
        const query = new URLSearchParams(required.filter(([one]) => one !== name));
        // The type of bytes, which come with a path.
        if (place === "query" && method === "post" && name === "contentType") query.set("path", "a.txt");
        if (place === "query") query.set(name, NUL);
        const url = path.replace(
          /\{(\w+)\}/g,
          (_, one: string) => place === "path" && one === name ? "a%00b" : "a.txt",
        );
        const answer = await own.request(method.toUpperCase(), `${url}${query.size > 0 ? `?${query}` : ""}`, {
          ...requestBody && { body: { ...FIELDS, ...place === "body" && { [name]: NUL } } },
        });
        // An id that is none is the id of no key.
        assertEquals(answer.status, name === "id" ? 404 : 400, answer.text);
        assertEquals(await service.tables(), before);
      });
    }
  }
}

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
