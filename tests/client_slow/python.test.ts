/** The clients in Python do what the library and its backend do, and are served beside the console. */
import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { CommandLine } from "../support/kit/command_line.ts";
import { REPOSITORY } from "../support/stack/command.ts";
import { suite } from "../support/stack/suite.ts";

const { service, test } = await suite();
const client = join(REPOSITORY, "supabase/client");
const python = [
  "python3",
  "-B",
  join(REPOSITORY, "tests/support/kit/python_cases.py"),
  client,
  service.baseUrl,
];
/** The package deepagents is not in the registries of the tests, so that its interface stands for it. */
const env = { PYTHONPATH: join(REPOSITORY, "tests/support/kit") };
const line = (...words: string[]) => new CommandLine([...python, ...words], { cwd: REPOSITORY, env });

const { stdout: names, stderr } = await line("no key").run();
assertEquals(stderr, "");
for (const name of names.trim().split(" ")) {
  test(`filestore.py: ${name.replaceAll("_", " ")}`, async (own) => {
    assertEquals(await line(own.key).run(name), { code: 0, stdout: "done\n", stderr: "" });
  });
}

for (const name of ["filestore.py", "filestore_deepagents.py"]) {
  Deno.test(`${name} is served beside the console as it is`, async () => {
    const served = await fetch(`${service.stack.supabaseUrl}/console/${name}`);
    assertEquals(await served.text(), await Deno.readTextFile(join(client, name)));
  });
}
