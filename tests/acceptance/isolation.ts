/** Two projects with the same paths never see each other: a file of the other project is answered like a missing one. */
import { assert, assertEquals } from "@std/assert";
import type { Answer } from "../support/client/contract.ts";
import { encodePath } from "../support/client/files.ts";
import type { FolderFiles } from "./folder_files.ts";
import { area, files, snapshot, strangerTo } from "./suite.ts";

const { testOfTwo, cases } = area("Isolation of projects");
export default cases;

testOfTwo("the same paths in two projects are different files in every operation", async () => {
  const first = await files();
  const second = strangerTo(first);
  const paths = ["a.txt", "dir/b.txt", "dir/sub/c.txt", "append/x"];
  for (const path of paths) {
    const one = await first.write(path, `first ${path}`);
    const two = await second.write(path, `second ${path}`);
    assert(one.id !== two.id);
    assertEquals(two.version, 1, "the other's version is not counted");
  }
  await first.append("a.txt", " appended");
  await first.overwrite("dir/b.txt", "overwritten");
  await first.edit("dir/sub/c.txt", "first", "edited");
  for (const path of paths) {
    assertEquals((await second.read(path)).content, `second ${path}`);
    assertEquals((await second.versions(path)).total, 1);
    assertEquals((await second.record(path)).version, 1);
  }
  await second.write("only second/x", "x");
  assertEquals((await first.paths({ recursive: true })).sort(), [...paths].sort());
  assertEquals((await first.list()).directories, ["append", "dir"]);
  assertEquals((await first.list({ directory: "only second" })).total, 0);
  assertEquals((await second.list({ recursive: true })).total, paths.length + 1);
});

/** Requests about a file; `{}` stands for its path. */
const REQUESTS: readonly (readonly [string, string, unknown?])[] = [
  ["GET", "/files/{}"],
  ["GET", "/files/{}?encoding=base64"],
  ["GET", "/files/{}?encoding=utf8"],
  ["GET", "/files/{}?version=1"],
  ["GET", "/files/{}?version=2"],
  ["GET", "/files/{}?metadata"],
  ["GET", "/files/{}?metadata&version=1"],
  ["GET", "/files/{}?versions"],
  ["GET", "/files/{}?versions&limit=1&offset=1"],
  ["PUT", "/files/append/{}", { content: "x" }],
  ["PUT", "/files/append/{}", { content: "eA==", isBase64: true }],
  ["PUT", "/files/append/{}", { content: "x".repeat(70_000) }],
  ["PUT", "/files/overwrite/{}", { content: "x" }],
  ["PUT", "/files/overwrite/{}", { content: "x".repeat(70_000) }],
  ["PUT", "/files/edit/{}", { oldString: "secret", newString: "x" }],
  ["PUT", "/files/edit/{}", { oldString: "absent", newString: "x", replaceAll: true }],
  ["PUT", "/files/edit/{}", { oldString: "absent", newString: "x".repeat(70_000) }],
  ["GET", "/files?directory={}"],
  ["GET", "/files?directory={}&recursive=true"],
  ["GET", "/files?recursive=true&after={}"],
  ["GET", "/files?recursive=true&deleted=true&directory={}"],
  ["GET", "/files/{}?lines=1-1"],
  ["GET", "/diff/{}?from=1&to=2"],
  ["DELETE", "/files/{}"],
  ["PUT", "/files/restore/{}", { version: 1 }],
  ["PUT", "/files/copy/{}", { destination: "stolen" }],
  ["PUT", "/files/move/{}", { destination: "stolen" }],
];

/** The answer, without the parts that differ between requests. */
function shown({ status, text, headers }: Answer): unknown {
  const varying = ["x-request-id", "date", "ratelimit", "x-ratelimit-reset"];
  return {
    status,
    text,
    headers: [...headers].filter(([name]) => !varying.includes(name)),
  };
}

async function victim(): Promise<FolderFiles> {
  const own = await files();
  await own.write("dir/secret.txt", "secret");
  await own.append("dir/secret.txt", "!");
  await own.writeBytes("secret.bin", Uint8Array.of(0xff));
  await own.write("dir/sub/deep.txt", "secret");
  return own;
}

for (const [method, pattern, body] of REQUESTS) {
  const name = body === undefined ? "" : ` ${JSON.stringify(body).slice(0, 50)}`;
  testOfTwo(`another project's file answers as a missing one: ${method} ${pattern}${name}`, async () => {
    const owner = await victim();
    const stranger = strangerTo(owner);
    const before = await snapshot();
    for (const path of ["dir/secret.txt", "secret.bin", "dir", "dir/sub"]) {
      // Of the same length, so that even a Content-Length does not distinguish them.
      const missing = path.replaceAll(/[a-z]/g, "q");
      const ask = async (about: string) =>
        shown(await stranger.request(method, pattern.replace("{}", encodePath(about)), { body }));
      assertEquals(await ask(path), await ask(missing), path);
    }
    assertEquals(await snapshot(), before);
    assertEquals((await owner.read("dir/secret.txt")).content, "secret!");
  });
}

testOfTwo("filters, sorting and paging of a list show one project's files only", async () => {
  const owner = await victim();
  const stranger = strangerTo(owner);
  const own = await stranger.write("mine.txt", "x");
  for (
    const query of [
      { recursive: true },
      { recursive: true, sortBy: "size", sortOrder: "desc" },
      { recursive: true, sortBy: "created_at" },
      { recursive: true, sortBy: "updated_at", sortOrder: "desc" },
      { recursive: true, contentType: "text/plain" },
      { recursive: true, minSize: 0, maxSize: 1000 },
      { recursive: true, createdAfter: "2000-01-01", updatedBefore: "2999-01-01" },
      { recursive: true, limit: 100, offset: 0 },
      { directory: "/" },
    ]
  ) {
    const list = await stranger.list(query);
    assertEquals([list.files, list.total], [[own], 1], JSON.stringify(query));
    assert(!JSON.stringify(list).includes("secret"));
  }
  assertEquals((await owner.list({ recursive: true })).total, 3);
});

testOfTwo(
  "another project's file is no obstacle either: its path is free to be written, copied and moved to",
  async () => {
    const owner = await victim();
    const stranger = strangerTo(owner);
    await stranger.write("mine.txt", "mine");
    for (const route of ["copy", "move"]) {
      const body = { destination: route === "copy" ? "dir/secret.txt" : "dir/sub/deep.txt" };
      const answer = await stranger.request("PUT", `/files/${route}/mine.txt`, { body });
      assertEquals(answer.status, 200, answer.text);
    }
    for (const path of ["dir/secret.txt", "dir/sub/deep.txt"]) {
      const { content, version } = await stranger.read(path);
      assertEquals([content, version], ["mine", 1]);
    }
    assertEquals((await owner.read("dir/secret.txt")).content, "secret!");
    assertEquals((await owner.read("dir/sub/deep.txt")).content, "secret");
  },
);
