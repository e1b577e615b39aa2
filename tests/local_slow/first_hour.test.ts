/** The first hour with a local stack: project names, the first account, local mail, the operator's commands. */
import { assert, assertEquals, assertMatch, assertNotEquals, assertStringIncludes } from "@std/assert";
import { request } from "node:http";
import { join } from "node:path";
import type { Mail } from "../../supabase/local/local_mail.ts";
import { type Stack, startStack } from "../../supabase/local/stack/stack.ts";
import { runCommand } from "../support/stack/command.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";

/** A call of the service, with a key or an account's token. */
async function call(
  stack: Stack,
  credentials: string,
  method: string,
  path: string,
  body?: unknown,
  project = "",
) {
  const headers = new Headers({ authorization: `Bearer ${credentials}`, "content-type": "application/json" });
  if (project !== "") headers.set("x-project-id", project);
  const response = await fetch(stack.baseUrl + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { data, error, details } = await response.json();
  return { status: response.status, data, code: error?.code, details };
}

async function auth(stack: Stack, path: string, body: unknown) {
  const response = await fetch(`${stack.supabaseUrl}/auth/v1/${path}`, {
    method: "POST",
    headers: { apikey: stack.publishableKey, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  assertEquals(response.status, 200);
  return await response.json();
}

const signUp = async (stack: Stack, email: string): Promise<string> =>
  (await auth(stack, "signup", { email, password: "a long password" })).access_token;

/** Status and body of a GET with this Host header, as a page of another site could cause it. */
function getAs(url: string, host: string): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { host } }, async (response) => {
      let body = "";
      for await (const chunk of response) body += chunk;
      resolve({ status: response.statusCode, body });
    }).on("error", reject).end();
  });
}

Deno.test("the first hour", (t) =>
  withScratchDirectory(async (dataDir) => {
    const sent: Mail[] = [];
    const start = () => startStack({ dataDir, port: 0, onMail: (mail) => sent.push(mail) });
    let stack = await start();
    const cli = async (script: string, ...args: string[]) => {
      const { code, stdout, stderr } = await runCommand(`${script}.ts`, ...args, "--data", dataDir, "--json");
      assertEquals(code, 0, stderr);
      return JSON.parse(stdout);
    };
    const refused = async (script: string, ...args: string[]) => {
      const { code, stdout, stderr } = await runCommand(`${script}.ts`, ...args, "--data", dataDir);
      assertEquals([code, stdout, stderr.split("\n").length], [1, "", 2], stderr);
      return stderr;
    };
    const demoId: string = (await cli("projects", "list"))[0].id;
    let owner = "";
    let ownerToken = "";
    let otherToken = "";
    const emails = Array.from({ length: 4 }, (_, index) => `person-${index}@example.com`);

    await t.step(
      "of accounts that sign up at the same time one finds the demo project with its files",
      async () => {
        await call(stack, stack.apiKey, "POST", "/files", { path: "notes/plan.md", content: "# Plan\n" });
        assertEquals(stack.demo, { name: "demo", owner: null });
        const tokens = await Promise.all(emails.map((email) => signUp(stack, email)));
        const lists = await Promise.all(tokens.map((token) => call(stack, token, "GET", "/projects")));
        const names = lists.map(({ data }) => data.projects.map(({ name }: { name: string }) => name).join());
        assertEquals(names.toSorted(), ["", "", "", "demo"]);
        const winner = names.indexOf("demo");
        [owner = "", ownerToken = ""] = [emails[winner], tokens[winner]];
        otherToken = tokens.find((_, index) => index !== winner) ?? "";
        const { data } = await call(stack, ownerToken, "GET", "/files/notes/plan.md", undefined, demoId);
        assertEquals(data.content, "# Plan\n");
        assertEquals((await call(stack, stack.apiKey, "GET", "/files?recursive=true")).data.total, 1);
      },
    );

    await t.step("mail of Auth is shown, and its link signs in; only to pages of this machine", async () => {
      await auth(stack, "recover", { email: owner });
      const [mail] = sent;
      if (typeof mail?.link !== "string") throw new Error("there is no link");
      assertEquals([sent.length, mail.to, mail.subject], [1, owner, "Reset Your Password"]);
      const address = `${stack.supabaseUrl}/console/local_mail.json`;
      const answer = await fetch(address);
      assertEquals(await answer.json(), { mails: sent });
      assertEquals(answer.headers.get("access-control-allow-origin"), null);
      for (const host of ["evil.example", `127.0.0.1.evil.example:${new URL(address).port}`]) {
        assertEquals((await getAs(address, host)).status, 403, host);
      }
      const followed = await fetch(mail.link, { redirect: "manual" });
      await followed.body?.cancel();
      const location = followed.headers.get("location") ?? "";
      assert(location.startsWith(`${stack.supabaseUrl}/console/#access_token=`), location);
      assertStringIncludes(location, "type=recovery");
      await auth(stack, "otp", { email: owner });
      assertEquals(sent.map(({ subject }) => subject), ["Reset Your Password", "Your Magic Link"]);
    });

    await t.step("names mean the operator's own projects, unless an owner is given; an id wins", async () => {
      assertEquals((await call(stack, otherToken, "POST", "/projects", { name: "demo" })).status, 200);
      const ambiguous = await refused("projects", "tier", "demo", "free");
      assertStringIncludes(ambiguous, `${demoId} (${owner})`);
      const own = await cli("projects", "create", "demo");
      assertEquals((await cli("projects", "tier", "demo", "enterprise")).id, own.id);
      assertEquals((await cli("projects", "tier", "demo", "pro", "--owner", owner)).id, demoId);
      const impostor = await cli("projects", "create", demoId);
      assertNotEquals(impostor.id, demoId);
      assertEquals((await cli("projects", "tier", demoId, "pro")).id, demoId);
      const { id } = await cli("keys", "create", "--project", "demo", "--owner", owner);
      const listed: { id: string }[] = await cli("keys", "list", "--project", demoId);
      assert(listed.some((key) => key.id === id));
      assertMatch(
        await refused("keys", "list", "--project", "demo", "--owner", "x@y.z"),
        /no account 'x@y\.z'/,
      );
      assertMatch(await refused("projects", "owner", "demo", owner), /another project with this name/);
      assertEquals((await cli("projects", "rename", "demo", "spare")).id, own.id);
      const given = await runCommand("projects.ts", "owner", "spare", owner, "--data", dataDir);
      assertEquals(given.code, 0, given.stderr);
      assertMatch(
        given.stderr,
        new RegExp(`^The project spare \\(${own.id}\\) belongs to ${owner} \\(.{36}\\) now\\. `),
      );
      assertMatch(given.stderr, /Before: no account\.$/m);
      const next = emails.find((email) => email !== owner) ?? "";
      const moved = await runCommand("projects.ts", "owner", own.id, next, "--data", dataDir);
      assertStringIncludes(moved.stderr, `Before: ${owner} (`);
      assertStringIncludes(moved.stderr, "console session has ended");
      assertEquals((await cli("projects", "owner", own.id, owner)).owner, owner);
    });

    await t.step("a restart finds the demo project and its key, whatever projects are called", async () => {
      await cli("projects", "create", "demo");
      const { apiKey } = stack;
      await stack.stop();
      stack = await start();
      assertEquals([stack.apiKey, stack.demo], [apiKey, { name: "demo", owner }]);
      assertEquals((await call(stack, apiKey, "GET", "/files?recursive=true")).data.total, 1);
      await cli("projects", "rename", demoId, "renamed");
      await cli("keys", "revoke", JSON.parse(await Deno.readTextFile(join(dataDir, "demo.json"))).keyId);
      await stack.stop();
      stack = await start();
      assertEquals(stack.demo, { name: "renamed", owner });
      assertNotEquals(stack.apiKey, apiKey);
      assertEquals((await call(stack, stack.apiKey, "GET", "/files?recursive=true")).data.total, 1);
    });

    await t.step("a suspended project refuses its keys and its owner, until it is resumed", async () => {
      assertMatch((await cli("projects", "suspend", demoId)).suspendedAt, /^\d{4}-/);
      for (const [credentials, project] of [[stack.apiKey, ""], [ownerToken, demoId]] as const) {
        for (
          const [method, path, body] of [["GET", "/files"], ["POST", "/files", {
            path: "x",
            content: "x",
          }]] as const
        ) {
          const { status, code, details } = await call(stack, credentials, method, path, body, project);
          assertEquals([status, code, details], [403, "FORBIDDEN_SCOPE", { suspended: true }]);
        }
      }
      assertEquals((await cli("projects", "resume", demoId)).suspendedAt, null);
      assertEquals((await call(stack, stack.apiKey, "GET", "/files?recursive=true")).data.total, 1);
    });

    await t.step("a key has the scopes, the prefix and the grace period that were asked for", async () => {
      const create = ["create", "--project", demoId, "--name", "agent"];
      const first = await cli("keys", ...create, "--scopes", "read", "--prefix", "/notes/");
      assertEquals((await call(stack, first.key, "GET", "/files/notes/plan.md")).status, 200);
      assertEquals(
        (await call(stack, first.key, "POST", "/files", { path: "notes/x", content: "" })).status,
        403,
      );
      const second = await cli("keys", ...create, "--grace", "3600");
      const third = await cli("keys", "rotate", second.id, "--grace", "7200");
      const keys: { id: string; expiresAt: string | null; revokedAt: string | null }[] = await cli(
        "keys",
        "list",
        "--project",
        demoId,
      );
      const ends = [first, second, third].map(({ id }) => {
        const key = keys.find((key) => key.id === id);
        return [key?.expiresAt === null ? null : "expires", key?.revokedAt];
      });
      assertEquals(ends, [["expires", null], ["expires", null], [null, null]]);
      for (const { key } of [first, second, third]) {
        assertEquals((await call(stack, key, "GET", "/files/notes/plan.md")).status, 200);
      }
      const wrong: [string[], RegExp][] = [
        [["create", "--project", demoId, "--scopes", "root"], /--scopes must be/],
        [["create", "--project", demoId, "--scopes", "read,read"], /--scopes must be/],
        [["create", "--project", demoId, "--prefix", "a/../b"], /--prefix must be a directory/],
        [["create", "--project", demoId, "--prefix", "a", "--scopes", "admin"], /must not be combined/],
        [["create", "--project", demoId, "--grace", "5"], /--grace requires --name/],
        [["revoke", third.id, "--grace", "5"], /--grace requires the command create or rotate/],
        [["rotate", third.id, "--grace", "1e3"], /--grace must be a whole number/],
        [["rotate", third.id, "--prefix", "a"], /--prefix require the command create/],
        [["list", "--owner", owner], /--owner requires --project/],
      ];
      for (const [args, problem] of wrong) assertMatch(await refused("keys", ...args), problem);
    });

    await t.step("control characters of stored names are never printed raw", async () => {
      const name = "red\u001b[31m\nline\u009b\u202e";
      await stack.exec("update filestore.projects set name = $1 where id = $2", [name, demoId]);
      await stack.exec("update filestore.api_keys set name = $1, path_prefix = $1 where project_id = $2", [
        name,
        demoId,
      ]);
      const commands = [["projects", "list"], ["keys", "list"], ["projects", "tier", demoId, "pro"]] as const;
      for (const [script = "", ...args] of [...commands, ["projects", "tier", `no${name}`, "pro"]]) {
        for (const json of [[], ["--json"]]) {
          const { code, stdout, stderr } = await runCommand(
            `${script}.ts`,
            ...args,
            ...json,
            "--data",
            dataDir,
          );
          const printed = stdout + stderr;
          assert(!/[^\P{Cc}\n]|\p{Cf}/u.test(printed), printed);
          assertStringIncludes(
            printed,
            "red\\u001b[31m\\u000aline\\u009b\\u202e".replace(
              "\\u000a",
              json.length > 0 && code === 0 ? "\\n" : "\\u000a",
            ),
          );
        }
      }
      await stack.exec("update filestore.api_keys set path_prefix = null where project_id = $1", [demoId]);
    });

    await t.step(
      "a lost or damaged record of the demo project costs another demo project, never the start",
      async () => {
        await stack.stop();
        await Deno.writeTextFile(join(dataDir, "demo.json"), "{");
        stack = await start();
        assertMatch(stack.demo?.name ?? "", /^demo-[0-9a-f]{8}$/);
        assertEquals((await call(stack, stack.apiKey, "GET", "/files")).status, 200);
      },
    );
    await stack.stop();
  }));
