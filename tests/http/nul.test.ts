/**
 * A NUL, which Postgres cannot store, is refused with 400 in every text for the database, and allowed in a file's
 * content.
 */
import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

const NUL = "a\0b";

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
/** Arguments that contain content. */
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

test("200: content has a NUL like any other character, and an edit finds it", async () => {
  const own = await files();
  await own.write("a.txt", "a\0b");
  await own.edit("a.txt", "\0", "\0\0");
  assertEquals((await own.read("a.txt")).content, "a\0\0b");
});
