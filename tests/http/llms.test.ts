/** GET /llms.txt: the service in one page for language models, as https://llmstxt.org describes the format. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { z } from "zod";
import { allRoutes } from "../../supabase/functions/api/routes/mod.ts";
import { suite, test } from "../support/stack/suite.ts";

const ROUTES = await allRoutes();

const { service } = await suite();

const answer = await service.request(null, "GET", "/llms.txt");
const LINK = /^- \[([^\]]+)\]\(([^)]+)\): (.+)$/;
const links = answer.text.split("\n").map((line) => LINK.exec(line)).filter((match) => match !== null);

test("200: it needs no key, is text, and is cached as the OpenAPI document is", async () => {
  assertEquals(answer.status, 200);
  assertEquals(answer.headers.get("content-type"), "text/plain; charset=utf-8");
  const described = await service.request(null, "GET", "/openapi.json");
  assertEquals(answer.headers.get("cache-control"), described.headers.get("cache-control"));
});

test("it is a title, a summary as a quotation, and sections that are lists of links", () => {
  const [head = "", ...sections] = answer.text.split(/^## /m);
  assertMatch(head, /^# Filestore\n\n> \S/);
  assert(sections.length > 5);
  for (const section of sections) {
    const [title = "", empty, ...lines] = section.trimEnd().split("\n");
    assertMatch(title, /^[A-Z]/);
    assertEquals(empty, "");
    assertEquals(lines.filter((line) => !LINK.test(line)), [], title);
  }
  assertEquals(sections.at(-1)?.split("\n", 1), ["Optional"]);
});

test("it names each route once, and each link leads to its place in the OpenAPI document of this address", async () => {
  const { paths } = z.looseObject({
    paths: z.record(z.string(), z.record(z.string(), z.looseObject({ summary: z.string() }))),
  }).parse((await service.request(null, "GET", "/openapi.json")).body);
  const [description, ...routes] = links;
  assertEquals(description?.[2], `${service.baseUrl}/openapi.json`);
  assertEquals(routes.length, ROUTES.length);
  assertEquals(new Set(routes.map(([, name]) => name)).size, ROUTES.length);
  for (const [, name = "", address = "", text = ""] of routes) {
    const { origin, pathname, hash } = new URL(address);
    assertEquals(origin + pathname, `${service.baseUrl}/openapi.json`);
    const [, , path = "", method = ""] = decodeURIComponent(hash).split("/");
    const template = path.replaceAll("~1", "/");
    assertEquals(`${method.toUpperCase()} ${template}`, name);
    assert(text.startsWith(`${paths[template]?.[method]?.summary} (`), text);
  }
});
