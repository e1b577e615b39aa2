/** The library on Deno, from its sources. `client_slow/node.test.ts` runs the same cases on Node, from the package. */
import { assertEquals } from "@std/assert";
import { RECORDS } from "../../supabase/client/build/records.ts";
import { Filestore, FilestoreError } from "../../supabase/client/mod.ts";
import { LIBRARY_CASES } from "../support/kit/library_cases.ts";
import { suite } from "../support/stack/suite.ts";

const { service, test } = await suite();

for (const [name, run] of LIBRARY_CASES) {
  test(`library: ${name}`, async (own) => {
    await run({ Filestore, FilestoreError, url: service.baseUrl, key: own.key, equal: assertEquals });
  });
}

Deno.test("the package declares exactly the records that the library names", async () => {
  const source = await Deno.readTextFile(
    new URL("../../supabase/client/library/records.ts", import.meta.url),
  );
  const named = [...source.matchAll(/\{([^}]*)\}/g)].flatMap(([, names = ""]) => names.match(/\w+/g) ?? []);
  assertEquals(Object.keys(RECORDS).toSorted(), named.toSorted());
});
