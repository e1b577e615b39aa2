/**
 * An agent without other knowledge: the tools' descriptions or earlier answers suggest each of its calls and its
 * arguments.
 */
import { assertEquals, assertMatch } from "@std/assert";
import { Agent, ERAS } from "../support/client/mcp.ts";
import { suite, test } from "../support/stack/suite.ts";

const { files, service } = await suite();

/** The text that a pattern finds, which the newcomer uses in its next call. */
function pick(text: string, pattern: RegExp): string {
  const [, found = null] = pattern.exec(text) ?? [];
  if (found === null) throw new Error(`${pattern} is not in: ${text}`);
  return found;
}

for (const era of ERAS) {
  test(`${era}: list, read, edit with a typo, fix it from the near miss, meet a conflict, read again, restore`, async () => {
    const own = await files();
    await own.write("notes/plan.md", "# Plan\n- survey the harbour\n- buy rope\n");
    const agent = new Agent(service, own.key, era);

    // The instructions and descriptions say where to begin, and what each tool is for.
    const start = await agent.rpc(era === "modern" ? "server/discover" : "initialize", {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "newcomer", version: "1" },
    });
    const instructions: string = Object(start.body).result.instructions;
    const first = pick(instructions, /Search with (\w+)/);
    const tools = await agent.tools();
    const describe = (name: string) => tools.find((tool) => tool.name === name)?.description ?? "";
    assertMatch(describe(first), /Start here/);

    // A list shows a folder with a slash, and its files with their paths.
    const top = await agent.call(first);
    const below = await agent.call(first, { path: pick(top, /^(\w+\/)$/m) });
    const path = pick(below, /^(\S+) — version/m);
    const read = await agent.call(pick(instructions, /then (\w+), which shows the version/), { path });
    const line = pick(read, /^ *2\t(.*)$/m);

    // The agent mistypes old_string, then copies it from the line that the refusal shows.
    const edit = pick(instructions, /Change a part with (\w+)/);
    const mistyped = { path, old_string: line.replace("the", "teh"), new_string: `${line} by boat` };
    const missed = await agent.refused(edit, mistyped);
    assertMatch(
      missed,
      /^STRING_NOT_FOUND: .*Copy old_string from these most similar lines, without the numbers/,
    );
    const edited = await agent.call(edit, { ...mistyped, old_string: pick(missed, /^ *\d+\t(- .*)$/m) });
    assertMatch(edited, /^ *2\t- survey the harbour by boat$/m);

    // Another agent writes, and the newcomer overwrites the file, naming the version it knows.
    const known = Number(pick(edited, /version (\d+)/));
    await own.append(path, "- call Ann\n");
    const replace = pick(instructions, /(\w+) replaces a whole file/);
    const mine = "# Plan\n- all is done\n";
    const conflict = await agent.refused(replace, { path, content: mine, expected_version: known });
    assertMatch(conflict, /^PRECONDITION_FAILED: .*\n[^]*^\+- call Ann$/m);
    const again = await agent.call("read_file", { path });
    const latest = Number(pick(conflict, /send expected_version=(\d+)\./));
    assertEquals(latest, Number(pick(again, /version (\d+)/)));
    const written = await agent.call(replace, {
      path,
      content: `${mine}- call Ann\n`,
      expected_version: latest,
    });

    // The change was a mistake: the description of the tool that undoes it names the tool that lists versions.
    const restore = tools.find(({ description }) =>
      /Makes the content of an earlier version the latest/.test(description)
    );
    const history = await agent.call(pick(restore?.description ?? "", /(\w+) lists the versions/), { path });
    const before = Number(pick(written, /version (\d+)/)) - 1;
    assertMatch(history, new RegExp(`^version ${before}: `, "m"));
    const restored = await agent.call(restore?.name ?? "", { path, version: before });
    assertMatch(restored, new RegExp(`has the content of version ${before}`));
    assertEquals(
      (await own.read(path)).content,
      "# Plan\n- survey the harbour by boat\n- buy rope\n- call Ann\n",
    );
  });

  test(`${era}: from every refusal a next call follows that works`, async () => {
    const own = await files();
    const agent = new Agent(service, own.key, era);
    // The file does not exist: the texts lead to write_file.
    const missing = await agent.refused("read_file", { path: "a.txt" });
    const create = pick(missing, /(\w+) creates one/);
    await agent.call(create, { path: "a.txt", content: "one\ntwo\ntwo\n" });
    // The file exists: read it, then send the version.
    const exists = await agent.refused(create, { path: "a.txt", content: "three\n" });
    const version = Number(pick(exists, /expected_version=(\d+)/));
    await agent.call(create, { path: "a.txt", content: "one\ntwo\ntwo\n3\n", expected_version: version });
    // The text occurs more than once: replace all.
    const repeated = await agent.refused("edit_file", { path: "a.txt", old_string: "two", new_string: "2" });
    assertMatch(repeated, /in lines 2, 3\./);
    assertMatch(repeated, /send replace_all=true/);
    await agent.call("edit_file", { path: "a.txt", old_string: "two", new_string: "2", replace_all: true });
    // The offset is beyond the end: use one that exists.
    const beyond = await agent.refused("read_file", { path: "a.txt", offset: 100 });
    await agent.call("read_file", { path: "a.txt", offset: Number(pick(beyond, /offset from 1 to (\d+)/)) });
    // The file is deleted: restore the version named.
    const deleted = await agent.call("delete_file", { path: "a.txt" });
    const gone = await agent.refused("read_file", { path: "a.txt" });
    assertEquals(pick(gone, /version=(\d+) restores it/), pick(deleted, /version=(\d+) restores it/));
    const tool = pick(gone, /(\w+) with version=/);
    await agent.call(tool, { path: "a.txt", version: Number(pick(gone, /version=(\d+) restores/)) });
    // The path is a folder: list it.
    await own.write("notes/b.txt", "x");
    const folder = await agent.refused("read_file", { path: "notes" });
    await agent.call(pick(folder, /(\w+) shows what is in it/), { path: "notes" });
    // The version does not exist: read the history.
    const absent = await agent.refused("read_file", { path: "a.txt", version: 99 });
    await agent.call(pick(absent, /(\w+) lists the versions/), { path: "a.txt" });
    // The destination exists: overwrite it.
    const taken = await agent.refused("move_file", { path: "a.txt", destination: "notes/b.txt" });
    assertMatch(taken, /overwrite=true/);
    await agent.call("move_file", { path: "a.txt", destination: "notes/b.txt", overwrite: true });
  });
}
