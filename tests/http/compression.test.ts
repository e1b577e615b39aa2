/**
 * The edge runtime compresses answers for clients that accept it, and any proxy may. An answer with an entity tag is
 * never changed; another may be compressed, with the same content. Decision 0014.
 */
import { assert, assertEquals } from "@std/assert";
import cases from "../acceptance/compression.ts";
import { acceptance, suite, test } from "../support/stack/suite.ts";

const { files } = await suite();

await acceptance(cases);

test("without an entity tag: compressed for clients that accept it, as by the edge runtime; the content is complete", async () => {
  const own = await files();
  await own.write("a.txt", "x");
  for (
    const [path, status] of [["/files?recursive=true", 200], ["/openapi.json", 200], [
      "/files/none",
      404,
    ]] as const
  ) {
    for (const accepted of ["gzip", "br", "gzip, br", "identity"]) {
      const answer = await own.request("GET", path, { headers: { "accept-encoding": accepted } });
      assertEquals(answer.status, status);
      const encoding = answer.headers.get("content-encoding");
      if (accepted === "identity") assertEquals(encoding, null);
      else assert(encoding !== null && accepted.includes(encoding), `${path}: ${encoding} for ${accepted}`);
    }
  }
});
