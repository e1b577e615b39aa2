/**
 * A folder's path in place of a file's is answered with 404, and with a note that it is a folder if the caller can see
 * it.
 */
import { assertEquals } from "@std/assert";
import { owner } from "../support/client/accounts.ts";
import { assertRefused } from "../support/client/contract.ts";
import { ASKS_FOR_BYTES, Files } from "../support/client/files.ts";
import { suite } from "../support/stack/suite.ts";

const { service, files, test } = await suite();

const READS = [
  ["content", "/files/{path}", {}],
  ["bytes", "/files/{path}", ASKS_FOR_BYTES],
  ["one version", "/files/{path}?version=1", {}],
  ["record", "/files/{path}?metadata", {}],
  ["version list", "/files/{path}?versions", {}],
  ["diff", "/diff/{path}", {}],
] as const;

async function detailsOf(own: Files, path: string, read: (typeof READS)[number]) {
  const [, url, headers] = read;
  const answer = await own.request("GET", url.replace("{path}", path), { headers });
  return assertRefused(answer, "FILE_NOT_FOUND");
}

for (const read of READS) {
  test(`404 FILE_NOT_FOUND with details.directory: ${read[0]} of a folder, at any depth; not of what is none`, async () => {
    const own = await files();
    await own.write("a/b/c.txt", "x");
    for (const path of ["a", "a/b"]) {
      assertEquals(await detailsOf(own, path, read), { directory: true }, path);
    }
    for (const path of ["a/b/c", "a/b/c.txt/d", "b"]) {
      assertEquals(await detailsOf(own, path, read), {}, path);
    }
  });

  test(`404 FILE_NOT_FOUND without details.directory: ${read[0]} of another project's folder`, async () => {
    const [own, other] = [await files(), await files()];
    await own.write("a/b.txt", "x");
    assertEquals(await detailsOf(other, "a", read), {});
  });
}

test("404: a folder whose last file was deleted is none any more; a deleted file may be a folder besides", async () => {
  const own = await files();
  const [content] = READS;
  await own.write("a/b.txt", "x");
  await own.remove("a/b.txt");
  assertEquals(await detailsOf(own, "a", content), {});
  await own.write("a", "x");
  await own.remove("a");
  assertEquals(await detailsOf(own, "a", content), { deletedVersion: 2 });
  await own.write("a/c.txt", "x");
  assertEquals(await detailsOf(own, "a", content), { deletedVersion: 2, directory: true });
});

test("200: a file that is also a folder is read as a file", async (own) => {
  await own.write("a", "file");
  await own.write("a/b.txt", "x");
  assertEquals((await own.read("a")).content, "file");
});

test("404: a key with a prefix sees folders below it and those that lead to it, and no others", async () => {
  const account = await owner(service);
  const whole = new Files(service, (await account.createKey()).key);
  for (const path of ["a/b/c/in.txt", "a/b0/out.txt", "x/out.txt"]) await whole.write(path, "x");
  const own = new Files(service, (await account.createKey({ pathPrefix: "a/b" })).key);
  const empty = new Files(service, (await account.createKey({ pathPrefix: "x/y/z" })).key);
  for (const read of READS) {
    for (const path of ["a", "a/b", "a/b/c"]) {
      assertEquals(await detailsOf(own, path, read), { directory: true }, `${read[0]} of ${path}`);
    }
    for (const path of ["a/b0", "x", "nowhere"]) {
      assertEquals(await detailsOf(own, path, read), {}, `${read[0]} of ${path}`);
    }
    // The project is empty, and another project's files do not show.
    for (const path of ["x", "x/y", "x/y/z", "a"]) assertEquals(await detailsOf(empty, path, read), {}, path);
  }
});
