/** The receivers of docs/webhooks.md take what the service signed, and nothing else, nor anything twice. */
import { assertEquals } from "@std/assert";
import { dirname, join } from "node:path";
import { Webhook } from "standardwebhooks";
import { newWebhook } from "../../supabase/functions/api/contract/webhooks.ts";
import { TESTS_CONFIG } from "../../supabase/local/repository.ts";
import { dataOf } from "../support/client/contract.ts";
import { administrator } from "../support/client/erasure.ts";
import { readDocument } from "../support/content/documents.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/postgres/postgres.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { privateSuite } from "../support/stack/suite.ts";

const ports = { ts: freePort(), python: freePort() };
const allowed = Object.values(ports).map((port) => `127.0.0.1:${port}`).join();
const { service, test } = await privateSuite({ functionVariables: { OUTBOUND_ALLOWED_HOSTS: allowed } });

/** Sends a body to the receiver, with this signature. */
async function send(url: string, id: string, body: string, signature: string, at = new Date()) {
  const headers = {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": signature,
  };
  const answer = await fetch(url, { method: "POST", headers, body });
  await answer.body?.cancel();
  return answer.status;
}

for (const language of ["ts", "python"] as const) {
  test(`the receiver in ${language} verifies, and prints each change once`, async (own) => {
    const { blocks } = await readDocument("supabase/docs/webhooks.md");
    const program = blocks.find((block) => block.language === language)?.text ?? "";
    const url = `http://127.0.0.1:${ports[language]}/`;
    const admin = await administrator(service, own.project.id);
    const answer = await admin.request("POST", "/project/webhooks", { body: { url } });
    const { secret } = dataOf(answer, "create_webhook", newWebhook);
    await withScratchDirectory(async (folder) => {
      const file = join(folder, `receiver.${language}`);
      await Deno.writeTextFile(file, program);
      const ofDeno = ["run", "-A", "--no-check", "--config", TESTS_CONFIG, file];
      const command = language === "ts" ? Deno.execPath() : "python3";
      const child = new Deno.Command(command, {
        args: language === "ts" ? ofDeno : ["-B", file],
        cwd: dirname(TESTS_CONFIG),
        env: { WEBHOOK_SECRET: secret, PORT: String(ports[language]) },
        stdout: "piped",
        stderr: "null",
      }).spawn();
      try {
        let printed = "";
        const printing = (async () => {
          for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) printed += text;
        })();
        const isUp = () => send(url, "x", "{}", "").then((status) => status === 401, () => false);
        await eventually("the receiver listens", isUp);
        await own.write("a.txt", "1");
        await own.write("b.txt", "1");
        await eventually("both are printed", () => printed.split("\n").length > 2);
        const body = JSON.stringify({ data: { changes: [{ path: "c.txt", version: 7 }] } });
        const now = new Date();
        const signature = new Webhook(secret).sign("m", now, body);
        assertEquals(
          await send(url, "m", body, `v1,b3RoZXI= ${signature}`, now),
          204,
          "one of two signatures",
        );
        assertEquals(await send(url, "m", body, signature, now), 204);
        assertEquals(await send(url, "other", body, signature, now), 401, "another id");
        assertEquals(await send(url, "m", `${body} `, signature, now), 401, "another body");
        const old = new Date(now.getTime() - 600_000);
        assertEquals(
          await send(url, "m", body, new Webhook(secret).sign("m", old, body), old),
          401,
          "too old",
        );
        child.kill("SIGKILL");
        await printing;
        assertEquals(printed, "a.txt 1\nb.txt 1\nc.txt 7\n");
      } finally {
        await child.status;
      }
    });
  });
}
