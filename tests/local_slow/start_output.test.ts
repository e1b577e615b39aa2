/** The text that `deno task start` prints for people, and the place where it logs requests. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { type Running, startCommand } from "../support/stack/command.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";

async function readyLines(running: Running): Promise<string[]> {
  const lines: string[] = [];
  for (let line = await running.nextLine(); line !== undefined; line = await running.nextLine()) {
    lines.push(line);
    if (line.includes("directory=")) return lines;
  }
  throw new Error((await running.end("SIGKILL")).stderr);
}

Deno.test(
  "deno task start prints what to paste last, no secret but the demo key, and logs requests to a file, or here with --log",
  () =>
    withScratchDirectory(async (data) => {
      const first = startCommand("start.ts", "--port", "0", "--data", data);
      const lines = await readyLines(first);
      const pasted = lines.slice(lines.findIndex((line) => line.startsWith("export ")));
      assertMatch(pasted[0] ?? "", /^export BASE_URL=http:\S+\/functions\/v1\/api API_KEY=oa_\w+$/);
      assert(lines.some((line) => line.includes("create an account there") && line.includes("project demo")));
      const shell = new Deno.Command("bash", {
        args: ["-euc", pasted.join("\n")],
        stdout: "piped",
        stderr: "piped",
      });
      const { success, stdout, stderr } = await shell.output();
      const answers = new TextDecoder().decode(stdout);
      assert(success, new TextDecoder().decode(stderr));
      assertEquals(answers.match(/"success":true/g)?.length, 3, answers);
      const ended = await first.end("SIGTERM");
      assertEquals([ended.code, ended.stdout.trim()], [0, ""]);
      assert(!ended.stderr.includes('"event":"request"'), ended.stderr);
      const printed = lines.join("\n") + ended.stderr;
      const stored = JSON.parse(await Deno.readTextFile(`${data}/secrets.json`));
      for (const name of ["secretKey", "jwtSecret", "serviceRoleKey"]) {
        assert(!printed.includes(stored[name]), `${name} is printed`);
      }
      const log = await Deno.readTextFile(`${data}/requests.log`);
      const logged = log.trimEnd().split("\n").map((line) => JSON.parse(line).route);
      for (const route of ["write_file", "read_file", "list_files"]) assert(logged.includes(route), log);

      const second = startCommand("start.ts", "--port", "0", "--data", data, "--log");
      const again = await readyLines(second);
      const paste = again.slice(again.findIndex((line) => line.startsWith("export "))).join("\n");
      assert((await new Deno.Command("bash", { args: ["-euc", paste], stdout: "null" }).output()).success);
      const { stderr: shown } = await second.end("SIGTERM");
      assertMatch(shown, /"event":"request".*"route":"list_files"/);
      assertEquals(await Deno.readTextFile(`${data}/requests.log`), log);
    }),
);
