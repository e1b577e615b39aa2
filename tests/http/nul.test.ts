/**
 * A NUL, which Postgres cannot store, is refused with 400 in every text for the database, and allowed in a file's
 * content.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { z } from "zod";
import { Agent } from "../support/client/mcp.ts";
import { suite } from "../support/stack/suite.ts";

const { service, test } = await suite();

const NUL = "a\0b";
const names = z.array(z.string()).default([]);

/** Arguments that contain content. */
const OF_TOOL_CONTENT = ["content", "old_string", "new_string"];
const ARGUMENTS: Readonly<Record<string, unknown>> = {
  ...{ path: "a.txt", destination: "b.txt", pattern: "x", query: "x", content: "x" },
  ...{ old_string: "x", new_string: "y", version: 1 },
};

test("a NUL in an argument of a tool is an error that the model reads; nothing is stored", async (own) => {
  const agent = new Agent(service, own.key);
  const tools = await agent.tools();
  assert(tools.length > 10);
  const before = await service.tables();
  for (const { name, inputSchema: { properties, required } } of tools) {
    const given = Object.fromEntries(
      names.parse(required).map((argument) => [argument, ARGUMENTS[argument]]),
    );
    for (const [argument, { type }] of Object.entries(properties)) {
      if (type !== "string" || OF_TOOL_CONTENT.includes(argument)) continue;
      const text = await agent.refused(name, { ...given, [argument]: NUL });
      assertMatch(text, /^(VALIDATION_ERROR|INVALID_PATH): /, `${name} ${argument}`);
    }
  }
  assertEquals(await service.tables(), before);
});

test("200: content has a NUL like any other character, and an edit finds it", async (own) => {
  await own.write("a.txt", "a\0b");
  await own.edit("a.txt", "\0", "\0\0");
  assertEquals((await own.read("a.txt")).content, "a\0\0b");
});
