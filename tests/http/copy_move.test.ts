/** A copy adds the current content under another path; a move also adds a tombstone, in the same commit. */
import { assert, assertEquals } from "@std/assert";
import { assertRefused } from "../support/client/contract.ts";
import cases, { ROUTES } from "../acceptance/copy_move.ts";
import { acceptance, suite } from "../support/stack/suite.ts";

const { service, files, test } = await suite();

await acceptance(cases);

for (const route of ROUTES) {
  test(`413 CONTENT_TOO_LARGE: ${route} of a file that is over a smaller tier by now`, async () => {
    const own = await files("enterprise");
    await own.write("big.txt", "x".repeat(2000));
    await service.setTier(own.project.id, "enterprise", { maxFileBytes: 1000 });
    const before = await service.tables();
    const refused = await own.put(route, "big.txt", { destination: "to.txt" });
    assertRefused(refused, "CONTENT_TOO_LARGE", `${route}_file`);
    assertEquals(await service.tables(), before);
  });
}

test("a move is atomic: when its commit fails, source and destination are as before", async (own) => {
  await own.write("from", "x");
  await own.write("to", "y");
  // The tombstone of the source is the second write of the transaction. Here it violates a constraint.
  await service.sql(
    "alter table filestore.files add constraint no_tombstone check (path <> 'from' or not is_deleted)",
  );
  const before = await service.tables();
  try {
    const response = await fetch(`${service.baseUrl}/files/move/from`, {
      method: "PUT",
      headers: { "x-api-key": own.key },
      body: JSON.stringify({ destination: "to", overwrite: true }),
    });
    assert(response.status >= 500, `the move answers ${response.status}`);
    await response.body?.cancel();
    assertEquals(await service.tables(), before);
  } finally {
    await service.sql("alter table filestore.files drop constraint no_tombstone");
  }
  assertEquals((await own.move("from", "to", true)).version, 2);
});
