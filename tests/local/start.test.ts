/** `deno task start`, `projects` and `keys`, run as processes. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { isAlive, runCommand, type Running, startCommand } from "../support/stack/command.ts";
import { eventually } from "../support/eventually.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { kill } from "../support/stack/processes.ts";

interface Ready {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly supabaseUrl: string;
  readonly publishableKey: string;
  readonly secretKey: string;
}

async function startStack(data: string, port = "0"): Promise<{ running: Running; ready: Ready }> {
  const running = startCommand("start.ts", "--json", "--port", port, "--data", data);
  const line = await running.nextLine();
  if (line === undefined) throw new Error((await running.end("SIGKILL")).stderr);
  return { running, ready: JSON.parse(line) };
}

async function call({ baseUrl, apiKey }: Ready, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(baseUrl + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  assertEquals(response.status, 200, JSON.stringify(answer));
  return answer.data;
}

/** Process ids of the children. */
async function childrenOf(pid: number): Promise<number[]> {
  const text = await Deno.readTextFile(`/proc/${pid}/task/${pid}/children`).catch(() => "");
  return text.split(" ").filter((word) => word !== "").map(Number);
}

Deno.test(
  "deno task start",
  { ignore: Deno.build.os !== "linux" },
  (t) =>
    withScratchDirectory(async (data) => {
      const first = await startStack(data);
      const port = new URL(first.ready.supabaseUrl).port;
      let children: number[] = [];

      await t.step("prints one line of JSON with everything a client needs", () => {
        const { baseUrl, apiKey, supabaseUrl, publishableKey, secretKey } = first.ready;
        assertEquals(Object.keys(first.ready), [
          "baseUrl",
          "apiKey",
          "supabaseUrl",
          "publishableKey",
          "secretKey",
        ]);
        assertEquals(baseUrl, `${supabaseUrl}/functions/v1/api`);
        assertMatch(apiKey, /^oa_[0-9A-Za-z]{34}$/);
        assertMatch(publishableKey, /^sb_publishable_/);
        assertMatch(secretKey, /^sb_secret_/);
      });

      await t.step("serves the function with that key", async () => {
        await call(first.ready, "/files", { path: "notes/a.md", content: "kept" });
      });

      await t.step("refuses a second start on the same folder with one line", async () => {
        const { code, stdout, stderr } = await runCommand("start.ts", "--port", "0", "--data", data);
        assertEquals([code, stdout], [1, ""]);
        assertMatch(stderr, /^Error: Another local stack uses the data folder .*\n$/);
      });

      await t.step("refuses a busy port with one line", () =>
        withScratchDirectory(async (other) => {
          const { code, stdout, stderr } = await runCommand("start.ts", "--port", port, "--data", other);
          assertEquals([code, stdout, stderr], [
            1,
            "",
            `Error: Port ${port} is in use; choose another with --port.\n`,
          ]);
        }));

      await t.step("starts a function process that was killed again", async () => {
        // The processes of the function, and of the embedding model, which starts when a text is first written.
        const killed = await childrenOf(first.running.pid);
        assert(killed.length > 0);
        for (const child of killed) kill(child);
        await eventually("an answer", () =>
          call(first.ready, "/files/notes/a.md").then(() => true, () => false));
        children = await childrenOf(first.running.pid);
        assert(
          children.length > 0 && !children.some((child) =>
            killed.includes(child)
          ),
        );
      });

      await t.step("SIGTERM ends every process it started", async () => {
        const { code, stdout } = await first.running.end("SIGTERM");
        assertEquals([code, stdout], [0, ""]);
        assertEquals(children.filter(isAlive), []);
      });

      await t.step("data, keys and address survive a restart, even after a crash", async () => {
        const second = await startStack(data, port);
        assertEquals(second.ready, first.ready);
        assertEquals((await call(second.ready, "/files/notes/a.md") as { content: string }).content, "kept");
        const orphans = await childrenOf(second.running.pid);
        await call(second.ready, "/files", { path: "notes/b.md", content: "written before a crash" });
        await second.running.end("SIGKILL");
        const third = await startStack(data, port);
        await eventually("the end of the function process", () => !orphans.some(isAlive));
        assertEquals(
          (await call(third.ready, "/files/notes/b.md") as { content: string }).content,
          "written before a crash",
        );
        assertEquals((await third.running.end("SIGINT")).code, 0);
      });
    }),
);

Deno.test("deno task start says that a database cannot be reached, without its password", () =>
  withScratchDirectory(async (data) => {
    const url = "postgresql://user:hidden@127.0.0.1:1/name";
    const { code, stdout, stderr } = await runCommand("start.ts", "--port", "0", "--data", data, "--db", url);
    assertEquals([code, stdout], [1, ""]);
    assertMatch(
      stderr,
      /\nError: The database at postgresql:\/\/user@127\.0\.0\.1:1\/name cannot be reached .*\n$/,
    );
  }));

Deno.test("deno task projects, deno task keys", (t) =>
  withScratchDirectory(async (data) => {
    const { running, ready } = await startStack(data);
    const json = async (script: string, ...args: string[]) => {
      const { code, stdout, stderr } = await runCommand(script, ...args, "--data", data, "--json");
      assertEquals([code, stdout.split("\n").length], [0, 2], stderr);
      return JSON.parse(stdout);
    };
    const project = await json("projects.ts", "create", "my project", "--tier", "enterprise");
    const key = await json(
      "keys.ts",
      "create",
      "--project",
      "my project",
      "--name",
      "ci",
      "--expires",
      "2999-01-31",
    );

    await t.step("answer with the promised fields", () => {
      const unowned = { ownerId: null, owner: null, suspendedAt: null };
      assertEquals({ ...project, id: "" }, { id: "", name: "my project", tier: "enterprise", ...unowned });
      assertEquals(Object.keys(key), ["id", "key", "prefix"]);
      assert(key.key.startsWith(key.prefix));
    });

    await t.step("a created key opens its project, and not another", async () => {
      const own = { ...ready, apiKey: key.key };
      await call(ready, "/files", { path: "demo.txt", content: "demo" });
      await call(own, "/files", { path: "mine.txt", content: "mine" });
      assertEquals((await call(own, "/files") as { total: number }).total, 1);
    });

    await t.step("a rotated key replaces the old one, a revoked one ends", async () => {
      const rotated = await json("keys.ts", "rotate", key.id);
      const revoked = await json("keys.ts", "revoke", rotated.id);
      assertEquals(revoked.id, rotated.id);
      const listed: { id: string; revokedAt: string | null; expiresAt: string }[] = await json(
        "keys.ts",
        "list",
        "--project",
        project.id,
      );
      assertEquals(listed.map(({ id }) => id), [key.id, rotated.id]);
      assert(
        listed.every(({ revokedAt, expiresAt }) => revokedAt !== null && expiresAt.startsWith("2999-01-31")),
      );
      assert(!JSON.stringify(listed).includes(key.key));
    });

    await t.step("tier sets limits and list shows them", async () => {
      await json("projects.ts", "tier", project.id, "pro", "--requests-per-minute", "5");
      const projects: { name: string; requestsPerMinute: number; maxFileBytes: number }[] = await json(
        "projects.ts",
        "list",
      );
      const mine = projects.find(({ name }) => name === "my project");
      assertEquals([mine?.requestsPerMinute, mine?.maxFileBytes], [5, 104_857_600]);
    });

    await t.step("makers and account-quota show and set what holds for all accounts", async () => {
      assertEquals(await json("projects.ts", "makers"), {
        projectMakers: ["anyone"],
        accountBytes: 5 * 1024 ** 3,
      });
      const made = await json("projects.ts", "makers", "@Example.com", "me@example.org");
      assertEquals(made.projectMakers, ["@example.com", "me@example.org"]);
      assertEquals((await json("projects.ts", "makers", "nobody")).projectMakers, []);
      assertEquals((await json("projects.ts", "account-quota", "1000")).accountBytes, 1000);
      assertEquals(await json("projects.ts", "account-quota", "none"), {
        projectMakers: [],
        accountBytes: null,
      });
    });

    await t.step("work on any project that is given by address and secret key", async () => {
      const given = ["list", "--url", ready.supabaseUrl, "--secret-key"];
      assertEquals((await runCommand("projects.ts", ...given, ready.secretKey)).code, 0);
      const stranger = await runCommand("projects.ts", ...given, ready.publishableKey);
      assertEquals(stranger.code, 1);
      assertMatch(stranger.stderr, /^Error: .* does not accept this secret key\.\n$/);
    });

    await t.step("refuse what they do not understand with one line", async () => {
      const refused: [string, string[], RegExp][] = [
        ["projects.ts", ["create", "my project"], /The owner has another project with this name/],
        ["projects.ts", ["create", "x", "--tier", "gold"], /tiers are free, pro and enterprise/],
        ["projects.ts", ["tier", "nobody", "pro"], /no project 'nobody'/],
        [
          "projects.ts",
          ["makers", "everyone"],
          /'everyone' is neither "anyone" nor an e-mail address or a domain/,
        ],
        ["projects.ts", ["account-quota", "0"], /BYTES must be a whole number from 1/],
        ["keys.ts", ["create", "--project", "demo", "--expires", "2999-02-30"], /--expires must be a date/],
        ["keys.ts", ["create", "--project", "demo", "--expires", "2000-01-01"], /in the past/],
        ["keys.ts", ["revoke", "00000000-0000-4000-8000-000000000000"], /no key with this id/],
      ];
      await Promise.all(refused.map(async ([script, args, problem]) => {
        const { code, stdout, stderr } = await runCommand(script, ...args, "--data", data);
        assertEquals([code, stdout, stderr.split("\n").length], [1, "", 2], stderr);
        assertMatch(stderr, problem);
      }));
    });

    await running.end("SIGTERM");
    await t.step("say that no stack runs", async () => {
      const { code, stderr } = await runCommand("keys.ts", "list", "--data", data);
      assertEquals(code, 1);
      assertMatch(stderr, /^Error: No local stack is running on .*\n$/);
    });
  }));
