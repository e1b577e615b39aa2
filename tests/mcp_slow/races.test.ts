/** Many agents read, think and write through the tools, and lose none of each other's changes; they follow only the texts. */
import { assertEquals } from "@std/assert";
import { Agent, ERAS } from "../support/client/mcp.ts";
import { rounds } from "../support/runner/long.ts";
import { suite, test } from "../support/stack/suite.ts";

const { files, service } = await suite();

const AGENTS = rounds(24, 64);
const FILES = Array.from({ length: 8 }, (_, index) => `shared/${index}.md`);
const TURNS = 2;
const TRIES_MAX = 500;

/** Each agent runs its own loop over the files. */
async function agents(work: (agent: Agent, path: string, name: string) => Promise<void>) {
  const own = await files();
  const each = Array.from({ length: AGENTS }, async (_, index) => {
    const agent = new Agent(service, own.key, ERAS[index % 2] ?? "modern");
    for (let turn = 0; turn < TURNS; turn++) {
      await work(agent, FILES[(index + turn) % FILES.length] ?? "", `agent ${index} turn ${turn}`);
    }
  });
  await Promise.all(each);
  return own;
}

/** The version and the lines in the answer of `read_file`. */
function parse(text: string): { version: number; lines: string[] } {
  const [title = "", ...lines] = text.split("\n");
  return {
    version: Number(/version (\d+)/.exec(title)?.[1]),
    lines: lines.map((line) => line.slice(line.indexOf("\t") + 1)),
  };
}

/** Repeats until a call succeeds. After a refusal the agent reads the file again. */
async function untilDone(tries: () => Promise<string>): Promise<string> {
  for (let count = 0; count < TRIES_MAX; count++) {
    try {
      return await tries();
    } catch (error) {
      if (
        !(error instanceof Error) ||
        !/^(FILE_ALREADY_EXISTS|PRECONDITION_FAILED|STRING_NOT_)/.test(error.message)
      ) {
        throw error;
      }
    }
  }
  throw new Error("it was always refused");
}

const expected = Array.from(
  { length: AGENTS * TURNS },
  (_, index) => `agent ${Math.floor(index / TURNS)} turn ${index % TURNS}`,
).toSorted();

test("many agents read, add a line and write the whole file back with write_file: every line is there, once", async () => {
  const own = await agents(async (agent, path, name) => {
    await untilDone(async () => {
      const read = await agent.result("read_file", { path, limit: 2000 });
      if (read.isError) return await agent.call("write_file", { path, content: `${name}\n` });
      const { version, lines } = parse(read.content[0].text);
      const content = [...lines, name].map((line) => `${line}\n`).join("");
      return await agent.call("write_file", { path, content, expected_version: version });
    });
  });
  const contents = await Promise.all(FILES.map(async (path) => (await own.read(path)).content));
  assertEquals(contents.join("").trimEnd().split("\n").toSorted(), expected);
});

test("many agents count with write_file, where two compute the same content: no count is lost", async () => {
  const own = await agents(async (agent, path) => {
    await untilDone(async () => {
      const read = await agent.result("read_file", { path });
      if (read.isError) return await agent.call("write_file", { path, content: "1\n" });
      const { version, lines: [count] } = parse(read.content[0].text);
      return await agent.call("write_file", {
        path,
        content: `${Number(count) + 1}\n`,
        expected_version: version,
      });
    });
  });
  const counts = await Promise.all(FILES.map(async (path) => Number((await own.read(path)).content)));
  assertEquals(counts, FILES.map(() => AGENTS * TURNS / FILES.length));
});

test("many agents count with edit_file: no count is lost", async () => {
  const own = await files();
  for (const path of FILES) await own.write(path, "# Visits\ncount: 0\nend\n");
  await Promise.all(Array.from({ length: AGENTS }, async (_, index) => {
    const agent = new Agent(service, own.key, ERAS[index % 2] ?? "modern");
    for (let turn = 0; turn < TURNS; turn++) {
      const path = FILES[(index + turn) % FILES.length] ?? "";
      await untilDone(async () => {
        const { lines: [, count = ""] } = parse(await agent.call("read_file", { path }));
        const next = `count: ${Number(count.slice("count: ".length)) + 1}`;
        return await agent.call("edit_file", { path, old_string: `${count}\n`, new_string: `${next}\n` });
      });
    }
  }));
  const contents = await Promise.all(FILES.map(async (path) => (await own.read(path)).content));
  assertEquals(contents, FILES.map(() => `# Visits\ncount: ${AGENTS * TURNS / FILES.length}\nend\n`));
});
