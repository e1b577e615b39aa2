/** A variable that was not set must not turn a safe write into an unsafe one: an empty precondition is refused. */
import { assertEquals } from "@std/assert";
import { assertRefused, issuePaths } from "../support/client/contract.ts";
import { suite, test } from "../support/stack/suite.ts";
import { prepare, WRITES } from "../support/client/write_kinds.ts";

const { service, files } = await suite();

const EMPTY = ["", " "];
const HEADERS = ["If-Match", "If-None-Match"];

test("400 VALIDATION_ERROR: every write with an empty If-Match or If-None-Match, and nothing is written", async () => {
  const own = await files();
  await prepare(own, "f.txt");
  const before = await service.tables();
  for (const kind of WRITES) {
    for (const name of HEADERS) {
      for (const value of EMPTY) {
        const answer = await kind.send(own, "f.txt", { [name]: value });
        const details = assertRefused(answer, "VALIDATION_ERROR", kind.operation);
        assertEquals(issuePaths(details), [name], `${kind.name} with '${value}'`);
      }
    }
  }
  assertEquals(await service.tables(), before);
});

test("400 VALIDATION_ERROR: reads of every form with an empty If-Match or If-None-Match", async () => {
  const own = await files();
  await own.write("f.txt", "text");
  const forms: readonly (readonly [string, Record<string, string>])[] = [
    ["/files/f.txt", {}],
    ["/files/f.txt", { accept: "application/octet-stream" }],
    ["/files/f.txt?metadata", {}],
    ["/files/f.txt?versions", {}],
    ["/files/f.txt?version=1", {}],
  ];
  for (const [path, headers] of forms) {
    for (const name of HEADERS) {
      const answer = await service.request(own.project.key, "GET", path, {
        headers: { ...headers, [name]: "" },
      });
      assertEquals(issuePaths(assertRefused(answer, "VALIDATION_ERROR")), [name], path);
    }
  }
});
