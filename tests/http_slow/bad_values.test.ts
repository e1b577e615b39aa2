/** What the routes of history refuse before they look at a file, alike for all of them; and that nothing changes. */
import { assertEquals } from "@std/assert";
import { assertRefused, rateOf } from "../support/client/contract.ts";
import cases, { ROUTES } from "../acceptance/bad_values.ts";
import { acceptance, suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

await acceptance(cases);

/** The function counts unknown keys for each client address; a new process has not counted those of earlier tests. */
let restarted: Promise<void> | undefined;

const withoutEarlierFailures = () => restarted ??= service.restartFunction();

for (const { method, prefix, operation, body } of ROUTES) {
  const name = `${method} ${prefix}{path}`;
  const file = `${prefix}f.txt`;

  test(`401 INVALID_API_KEY goes before everything else: ${name}`, async () => {
    await withoutEarlierFailures();
    const before = await service.tables();
    for (const key of [null, "nonsense", `oa_${"A".repeat(43)}`]) {
      for (const path of [file, `${prefix}a%00`]) {
        const headers = { "if-match": "bad", "idempotency-key": "" };
        assertRefused(
          await service.request(key, method, path, { body, headers }),
          "INVALID_API_KEY",
          operation,
        );
      }
    }
    assertEquals(await service.tables(), before);
  });

  test(`429 RATE_LIMIT_EXCEEDED, and one request of the window otherwise, done or refused: ${name}`, async () => {
    const own = await files("enterprise", { requestsPerMinute: 50 });
    await own.write("f.txt", "x");
    await service.freezeWindow(own.project.id);
    const headers = { "if-match": "malformed" };
    const requests = [
      () => own.request(method, file, { body }),
      () => own.request(method, `${prefix}none`, { body }),
      () => own.request(method, `${prefix}a%00`, { body }),
      ...(method === "GET" ? [] : [() => own.request(method, file, { body, headers })]),
    ];
    for (const [index, request] of requests.entries()) {
      assertEquals(rateOf((await request()).headers).remaining, 49 - index);
    }
    await own.write("f.txt", "y");
    await service.freezeWindow(own.project.id, 50);
    const before = await service.tables();
    assertRefused(await own.request(method, file, { body }), "RATE_LIMIT_EXCEEDED", operation);
    assertEquals(await service.tables(), before);
  });

  if (body === undefined) continue;

  test(`a large body whose key is not known is refused before it is read: ${name}`, async () => {
    await withoutEarlierFailures();
    const own = await files();
    await own.write("f.txt", "x");
    const padded = JSON.stringify(body) + " ".repeat(100_000);
    const stranger = `oa_${"B".repeat(43)}`;
    assertRefused(
      await service.request(stranger, method, file, { body: padded }),
      "INVALID_API_KEY",
      operation,
    );
    assertEquals((await own.request(method, file, { body: padded })).status, 200);
  });
}
