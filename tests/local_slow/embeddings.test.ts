/** The local stack searches by meaning without any setting, with its own model, which it starts when needed. */
import { assert, assertEquals } from "@std/assert";
import { LocalEmbeddings } from "../../supabase/local/stack/local_embeddings.ts";
import { EMBEDDINGS_REQUESTS_MAX } from "../../supabase/local/limits.ts";
import { assertRefused } from "../support/client/contract.ts";
import { Files } from "../support/client/files.ts";
import { indexed, pathsOf, search, trySearch } from "../support/client/search.ts";
import { eventually } from "../support/eventually.ts";
import { startService } from "../support/stack/service.ts";
import { test } from "../support/stack/suite.ts";

// The tests' Postgres lacks the extension `vector`.
const hasVectors = Deno.env.get("TEST_DATABASE") !== "postgres";

const NOTES = {
  "a.md": "The car needs new tyres and its engine makes a noise.\n",
  "b.md": "We bake bread with flour, water and salt.\n",
  "c.md": "The invoice must be paid before the end of the month.\n",
};

test("semantic and hybrid work without settings; the model starts when first needed, again after a crash, and ends", async () => {
  const service = await startService({ embeddings: true });
  let pids: readonly number[] = [];
  try {
    assertEquals(service.stack.embeddingPids, [], "starting takes no longer for it");
    const own = new Files(service, (await service.project()).key);
    for (const [path, text] of Object.entries(NOTES)) await own.write(path, text);
    if (!hasVectors) return;
    await indexed(service);
    for (
      const [q, path] of [["vehicle repair", "a.md"], ["food recipe", "b.md"], [
        "money owed",
        "c.md",
      ]] as const
    ) {
      for (const mode of ["semantic", "hybrid"]) {
        const page = await search(own, q, { mode });
        assertEquals([page.mode, pathsOf(page)[0]], [mode, path], q);
      }
    }
    const [pid = 0] = service.stack.embeddingPids;
    Deno.kill(pid, "SIGKILL");
    await eventually("it runs again", () => service.stack.embeddingPids.some((other) => other !== pid));
    assertEquals(pathsOf(await search(own, "automobile", { mode: "semantic" }))[0], "a.md");
    pids = service.stack.embeddingPids;
  } finally {
    await service.stop();
  }
  for (const pid of pids) {
    let isRunning = true;
    try {
      Deno.kill(pid, "SIGCONT");
    } catch {
      isRunning = false;
    }
    assert(!isRunning, "the process ends with the stack");
  }
});

test("501 without the model", async () => {
  const service = await startService({ embeddings: false });
  try {
    const own = new Files(service, (await service.project()).key);
    assertRefused(
      await trySearch(own, "x", { mode: "semantic" }),
      "SEMANTIC_SEARCH_UNAVAILABLE",
      "search_files",
    );
  } finally {
    await service.stop();
  }
});

test("a model that does not start, and more requests than it takes, are 503 and 429 at once", async () => {
  const lines: string[] = [];
  // The process that should start the model ends once this file is gone.
  const file = await Deno.makeTempFile();
  const program = `for (;;) {
    await Deno.stat(${JSON.stringify(file)}).catch(() => Deno.exit(7));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }`;
  const embeddings = await LocalEmbeddings.start((line) => lines.push(line), {
    executable: Deno.execPath(),
    args: ["eval", program],
    environment: {},
  });
  try {
    const statuses: number[] = [];
    const ask = () =>
      fetch(embeddings.url, { method: "POST", body: '{"input": "x"}' }).then(async (answer) => {
        await answer.body?.cancel();
        statuses.push(answer.status);
        return answer.status;
      });
    const asked = Promise.all(Array.from({ length: EMBEDDINGS_REQUESTS_MAX + 4 }, ask));
    await eventually("those beyond the bound are refused", () => statuses.length === 4);
    assertEquals(statuses, [429, 429, 429, 429]);
    await Deno.remove(file);
    await asked;
    assertEquals(statuses.filter((status) => status === 503).length, EMBEDDINGS_REQUESTS_MAX);
    assert(lines.some((line) => line.includes("does not start")), lines.join());
    assertEquals(await ask(), 503, "it is not started again at once");
    assertEquals(embeddings.pids, []);
  } finally {
    await embeddings.stop();
  }
});
