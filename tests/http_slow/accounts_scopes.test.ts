/** The rights of a key over HTTP: every route with every scope, and keys confined to a folder. */
import { assertEquals } from "@std/assert";
import { owner } from "../support/client/accounts.ts";
import { assertRefused, dataOf, fileList } from "../support/client/contract.ts";
import { aboutFile, FILE_ROUTES, PROJECT_ROUTES, RUN } from "../support/client/every_route.ts";
import { encodePath, Files } from "../support/client/files.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service } = await suite();

// The key with every scope comes last, since it regenerates the newest key.
const KEYS = [["read"], ["write"], ["read", "write"], ["admin"], ["read", "write", "admin"]] as const;

for (const route of [...FILE_ROUTES, ...PROJECT_ROUTES]) {
  test(`${route.name} asks for ${route.scopes.join(" and ") || "no scope"}: 403 FORBIDDEN_SCOPE without`, async () => {
    const account = await owner(service);
    for (const isRemembered of [false, true]) {
      for (const [index, scopes] of KEYS.entries()) {
        const { key } = await account.createKey({ scopes: [...scopes] });
        const file = `f ${index} ${isRemembered}.txt`;
        if (FILE_ROUTES.includes(route)) {
          await account.request("POST", "/files", { body: { path: file, content: "one" } });
          await account.request("PUT", `/files/append/${encodePath(file)}`, { body: { content: "two" } });
          await account.request("POST", "/files", {
            body: { path: `${file}/in.txt`, content: "in" },
            headers: { "x-run-id": RUN },
          });
        }
        if (isRemembered) await service.request(key, "GET", "/project");
        const { path, options } = aboutFile(route, file);
        const [missing] = route.scopes.filter((scope) => !scopes.some((held) => held === scope));
        const mayChange = route.method !== "GET" && missing !== undefined;
        const before = mayChange && await service.tables();
        const answer = await service.request(key, route.method, path, options);
        if (missing === undefined) {
          assertEquals(answer.status, route.status ?? 200, `${scopes}: ${answer.text}`);
        } else {
          assertEquals(assertRefused(answer, "FORBIDDEN_SCOPE"), { scope: missing }, `${scopes}`);
          if (mayChange) assertEquals(await service.tables(), before, `${scopes}: nothing is done`);
        }
      }
    }
  });
}

/** The routes that a key with a prefix may use; such a key cannot have the scope admin. */
const ROUTES_BELOW = FILE_ROUTES.filter(({ scopes }) => !scopes.includes("admin"));

/** A project with files inside, beside, above and far from a/b, and a key with the prefix a/b. */
async function confined() {
  const account = await owner(service);
  const { key: whole } = await account.createKey();
  const files = new Files(service, whole);
  const outside = ["a/top.txt", "a/b", "a/b0/beside.txt", "a/ba.txt", "other.txt"];
  for (const path of ["a/b/in.txt", "a/b/deep/in.txt", ...outside]) {
    await files.write(path, "one");
    await files.append(path, "two");
  }
  const { key } = await account.createKey({ pathPrefix: "/a/b/" });
  return { account, files, outside, own: new Files(service, key) };
}

test("a key with a prefix does everything below it", async () => {
  const { own } = await confined();
  for (const [index, route] of ROUTES_BELOW.entries()) {
    const file = `a/b/new ${index}.txt`;
    await own.write(file, "one");
    await own.append(file, "two");
    await own.request("POST", "/files", {
      body: { path: `${file}/in.txt`, content: "in" },
      headers: { "x-run-id": RUN },
    });
    const { path, options } = aboutFile(route, file);
    const answer = await own.request(route.method, path, options);
    assertEquals(answer.status, route.status ?? 200, `${route.name}: ${answer.text}`);
  }
});

test("outside its prefix a key reads what never was, and writes nothing: whether or not there is a file", async () => {
  const { own, outside } = await confined();
  const before = await service.tables();
  for (const route of ROUTES_BELOW.filter(({ path, body }) => /\{file\}/.test(path + JSON.stringify(body)))) {
    for (const file of [...outside, "never.txt"]) {
      // The key may change its prefix as a folder.
      if (route.name.endsWith("folder") && file === "a/b") continue;
      const { path, options } = aboutFile(route, file);
      const answer = await own.request(route.method, path, options);
      if (route.scopes.some((scope) => scope === "write")) {
        const details = assertRefused(answer, "FORBIDDEN_SCOPE");
        assertEquals(details, { pathPrefix: "a/b" }, `${route.name} ${file}`);
      } else {
        // The prefix is a directory that the key can see.
        const details = file === "a/b" ? { directory: true } : {};
        assertEquals(assertRefused(answer, "FILE_NOT_FOUND"), details, `${route.name} ${file}`);
      }
    }
  }
  const copy = (from: string, destination: string) =>
    own.request("PUT", `/files/copy/${encodePath(from)}`, { body: { destination, overwrite: true } });
  for (const file of [...outside, "never.txt"]) {
    assertRefused(await copy(file, "a/b/stolen.txt"), "FILE_NOT_FOUND", "copy_file");
    assertRefused(await copy("a/b/in.txt", file), "FORBIDDEN_SCOPE", "copy_file");
  }
  assertEquals(await service.tables(), before);
});

test("an idempotency key used outside the prefix answers nothing to a key confined to it", async () => {
  const { own, files } = await confined();
  const request = (by: Files) =>
    by.request("PUT", "/files/edit/other.txt", {
      body: { oldString: "one", newString: "1" },
      headers: { "idempotency-key": "once" },
    });
  assertEquals((await request(files)).status, 200);
  assertEquals(assertRefused(await request(own), "FORBIDDEN_SCOPE", "write_file"), { pathPrefix: "a/b" });
});

test("lists show what lies below the prefix, the way to it, and a total of no more", async () => {
  const { own } = await confined();
  const rows: readonly (readonly [string, string[], string[] | undefined])[] = [
    ["", [], ["a"]],
    ["?directory=a", [], ["b"]],
    ["?directory=a/b", ["a/b/in.txt"], ["deep"]],
    ["?directory=a/b/deep", ["a/b/deep/in.txt"], []],
    ["?directory=a/b0", [], []],
    ["?directory=elsewhere", [], []],
    ["?recursive=true", ["a/b/deep/in.txt", "a/b/in.txt"], undefined],
    ["?recursive=true&directory=a", ["a/b/deep/in.txt", "a/b/in.txt"], undefined],
    ["?recursive=true&directory=a/b0", [], undefined],
    ["?recursive=true&minSize=1&contentType=text/plain", ["a/b/deep/in.txt", "a/b/in.txt"], undefined],
    ["?recursive=true&deleted=true", [], undefined],
  ];
  for (const [query, paths, directories] of rows) {
    const list = dataOf(await own.request("GET", `/files${query}`), "list_files", fileList);
    const shown = [list.files.map(({ path }) => path), list.directories, list.total];
    assertEquals(shown, [paths, directories, paths.length], query);
  }
});

test("a key with a prefix sees nothing of the project as a whole", async () => {
  const { own } = await confined();
  for (const path of ["/project", "/project/activity", "/project/usage"]) {
    assertEquals(assertRefused(await own.request("GET", path), "FORBIDDEN_SCOPE"), { pathPrefix: "a/b" });
  }
  const keys = await own.request("GET", "/project/apikeys");
  assertEquals(assertRefused(keys, "FORBIDDEN_SCOPE"), { scope: "admin" });
});
