/**
 * The official conformance suite, in both eras. Left out are scenarios that need tools, prompts or resources of a
 * server built for the suite. Of apps that sign in, all scenarios of servers run, with a person who consents.
 */
import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { z } from "zod";
import { owner } from "../support/client/accounts.ts";
import { answerRequest, App, redirectOf } from "../support/client/oauth.ts";
import { packageCommand, runPackage } from "../support/node_package.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

/** The scenarios that pass, by the revision that requires them. */
const PASSED: Readonly<Record<string, readonly string[]>> = {
  "2025-11-25": [
    ..."dns-rebinding-protection ping server-initialize server-session-lifecycle".split(" "),
    ..."server-sse-multiple-streams server-sse-polling tools-list".split(" "),
  ],
  "2026-07-28": [
    ..."dns-rebinding-protection http-header-validation".split(" "),
    ..."input-required-result-ignore-extra-params input-required-result-missing-input-response".split(" "),
    ..."input-required-result-unsupported-methods input-required-result-validate-input".split(" "),
    ..."sep-2164-resource-not-found server-sse-multiple-streams tasks-status-notifications".split(" "),
    ..."tools-list".split(" "),
  ],
};

/** Scenarios of which some checks need the suite's own tools, prompts or resources, and the names of those checks. */
const IN_PART: Readonly<Record<string, readonly string[]>> = {
  "server-stateless": [
    "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-missing-capability-http-400",
    "sep-2575-server-no-log-without-loglevel",
    "sep-2575-server-rejects-undeclared-capability",
  ],
  "caching": [
    "sep-2549-prompts-list-caching-hints",
    "sep-2549-resources-list-caching-hints",
    "sep-2549-resources-templates-list-caching-hints",
  ],
};

const checks = z.array(z.looseObject({ id: z.string(), status: z.string() }));

for (const [revision, passed] of Object.entries(PASSED)) {
  test(`the conformance suite of ${revision}`, async () => {
    const { key } = await files();
    await using server = withKey(`${service.baseUrl}/mcp`, key);
    await withScratchDirectory(async (directory) => {
      const args = ["server", "--url", server.url, "--requirements", revision, "-o", directory];
      const { stdout, stderr } = await runPackage(
        "@modelcontextprotocol/conformance",
        "conformance",
        args,
        directory,
      );
      const failed = await failedChecks(directory);
      assertEquals(failed.size > 20, true, stdout.slice(-2000) + stderr.slice(-2000));
      const ofPassed = [...failed].filter(([, ids]) => ids.length === 0).map(([name]) => name);
      assertEquals(ofPassed.toSorted(), passed.toSorted(), stdout.slice(-4000));
      for (const [name, ids] of Object.entries(IN_PART)) {
        if (failed.has(name)) assertEquals(failed.get(name)?.toSorted(), ids.toSorted(), name);
      }
    });
  });
}

test("the conformance suite of authorization servers: its metadata, and the way to a token", async () => {
  const account = await owner(service);
  const base = service.baseUrl;
  const { clientId } = await App.register(service, { redirect_uris: ["http://127.0.0.1/callback"] });
  const port = String(freePort());
  const args = ["--url", base, "--client-id", clientId, "--resource", `${base}/connect`, "-p", port];
  await withScratchDirectory(async (directory) => {
    const suite = ["authorization", ...args, "-o", directory];
    const child = packageCommand("@modelcontextprotocol/conformance", "conformance", suite, directory)
      .spawn();
    const errors = new Response(child.stderr).text();
    let output = "";
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      output += text;
      const [, address] = /^(http\S+\/oauth\/authorize\?\S+)\n/m.exec(text) ?? [];
      if (address === undefined) continue;
      const { headers } = await fetch(address, { redirect: "manual" });
      const [, request = ""] = (headers.get("location") ?? "").split("?request=");
      const back = await fetch(redirectOf(await answerRequest(account, request)));
      await back.body?.cancel();
    }
    assertEquals((await child.status).code, 0, output + await errors);
    assertEquals(await madeChecks(directory), {
      "authorization-server-metadata": "SUCCESS",
      // The function may not call other hosts here, and says so.
      "authorization-server-metadata-cimd": "WARNING",
      "authorization-code-grant": "SUCCESS",
    });
  });
});

async function madeChecks(directory: string): Promise<Record<string, string>> {
  const made: Record<string, string> = {};
  for await (const { name } of Deno.readDir(directory)) {
    const text = await Deno.readTextFile(join(directory, name, "checks.json"));
    for (const { id, status } of checks.parse(JSON.parse(text))) made[id] = status;
  }
  return made;
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** The ids of each scenario's failed checks. */
async function failedChecks(directory: string): Promise<Map<string, string[]>> {
  const failed = new Map<string, string[]>();
  for await (const { name } of Deno.readDir(directory)) {
    const [, scenario] = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(name) ?? [];
    if (scenario === undefined) continue;
    const made = checks.parse(JSON.parse(await Deno.readTextFile(join(directory, name, "checks.json"))));
    failed.set(scenario, made.filter(({ status }) => status === "FAILURE").map(({ id }) => id));
  }
  return failed;
}

/** The suite sends no credentials, so this proxy adds the key. */
function withKey(target: string, key: string) {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const headers = new Headers(request.headers);
    headers.set("x-api-key", key);
    headers.delete("accept-encoding");
    const body = ["GET", "HEAD"].includes(request.method) ? null : await request.arrayBuffer();
    const { status, headers: answered, body: answer } = await fetch(target, {
      method: request.method,
      headers,
      body,
    });
    const type = answered.get("content-type");
    return new Response(answer, { status, headers: type === null ? {} : { "content-type": type } });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/mcp`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
