/**
 * The main job on real input: every file of published packages, which hold text, images, WASM and odd names, is
 * stored, listed, read back byte for byte, edited and appended to, and read in every version.
 */
import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { type PackageFile, packageFiles } from "../support/content/packages.ts";
import { suite, test } from "../support/stack/suite.ts";

/** Requests at the same time. */
const AT_ONCE = 8;
/** Every so many text files one is changed. */
const CHANGED_EVERY = 25;

const { files: project } = await suite();
const own = await project("enterprise");
const files = await packageFiles();

async function eachAtOnce<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

function textOf({ bytes }: PackageFile): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function isSame(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}

/** The files directly in a folder, and the names of its sub-folders. */
function childrenOf(folder: string): { paths: string[]; folders: string[] } {
  const prefix = folder === "" ? "" : `${folder}/`;
  const below = files.map(({ path }) => path).filter((path) => path.startsWith(prefix));
  const rests = below.map((path) => path.slice(prefix.length));
  return {
    paths: below.filter((_, index) => !rests[index]?.includes("/")).sort(),
    folders: [...new Set(rests.filter((rest) => rest.includes("/")).map((rest) => rest.split("/")[0] ?? ""))]
      .sort(),
  };
}

async function allPages(query: Record<string, string | number | boolean>, limit: number): Promise<string[]> {
  const paths: string[] = [];
  for (let hasMore = true; hasMore;) {
    const page = await own.list({ ...query, limit, offset: paths.length });
    paths.push(...page.files.map(({ path }) => path));
    hasMore = page.hasMore;
    assertEquals(hasMore, paths.length < Number(page.total));
  }
  return paths;
}

test("the packages hold over 1,000 files: text, images, WASM and odd names", () => {
  assert(files.length >= 1000, `${files.length} files`);
  for (const kind of [".wasm", ".png", ".svg", ".js", ".json", ".md", ".css", ".map"]) {
    assert(files.some(({ path }) => path.endsWith(kind)), kind);
  }
  for (const oddity of ["#", "+", " ", "'"]) assert(files.some(({ path }) => path.includes(oddity)), oddity);
  assert(files.filter((file) => textOf(file) === null).length >= 8, "binary files");
  assert(files.some(({ bytes }) => bytes.length > 1_048_576), "a file of more than one segment");
});

test("200: every file is stored, text as text and binary as base64, with the size of its bytes", async () => {
  await eachAtOnce(files, async (file) => {
    const text = textOf(file);
    const record = text === null
      ? await own.writeBytes(file.path, file.bytes)
      : await own.write(file.path, text);
    assertEquals([record.path, record.version, record.size], [file.path, 1, file.bytes.length]);
  });
});

test("200: every folder is listed, page by page, with its files and sub-folders", async () => {
  const folders = new Set<string>([""]);
  for (const { path } of files) {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      folders.add(path.slice(0, end));
    }
  }
  for (const folder of folders) {
    const { paths, folders: expected } = childrenOf(folder);
    assertEquals(await allPages({ directory: `/${folder}` }, 100), paths, folder);
    assertEquals((await own.list({ directory: folder })).directories, expected, folder);
  }
});

test("200: the recursive list has every file once, in order, whatever the page's size", async () => {
  const expected = files.map(({ path }) => path).sort();
  assertEquals(await allPages({ recursive: true }, 100), expected);
  const [first = ""] = expected;
  const folder = first.split("/")[0] ?? "";
  const within = expected.filter((path) => path.startsWith(`${folder}/`));
  assertEquals(await allPages({ recursive: true, directory: folder }, 37), within);
});

test("200: every file is read back byte for byte", async () => {
  await eachAtOnce(files, async ({ path, bytes }) => {
    assert(isSame(await own.readBytes(path), bytes), `${path} came back changed`);
  });
});

test("200: edited and appended files read right, in every version", async () => {
  const texts = files.filter((file) => (textOf(file) ?? "").length > 40);
  const changed = texts.filter((_, index) => index % CHANGED_EVERY === 0);
  assert(changed.length >= 30, `${changed.length} files are changed`);
  await eachAtOnce(changed, async (file) => {
    const text = textOf(file) ?? "";
    const old = uniquePart(text);
    const edited = text.replace(old, () => `${old} $& edited ✓`);
    assertEquals((await own.edit(file.path, old, `${old} $& edited ✓`)).replacements, 1);
    await own.append(file.path, "\nappended 😀\n");
    await own.edit(file.path, "appended 😀", "appended twice");
    const expected = [text, edited, `${edited}\nappended 😀\n`, `${edited}\nappended twice\n`];
    const { total, versions } = await own.versions(file.path);
    assertEquals(total, expected.length, file.path);
    for (const { version, size } of versions) {
      const bytes = await own.readBytes(file.path, { version });
      assertEquals(bytes.length, size);
      assert(
        isSame(bytes, new TextEncoder().encode(expected[version - 1])),
        `${file.path} at version ${version}`,
      );
    }
  });
});

test("200: binary files are appended to byte for byte, and keep what they were", async () => {
  const binary = files.filter((file) => textOf(file) === null).slice(0, 10);
  const tail = Uint8Array.of(0, 255, 128, 10, 13);
  await eachAtOnce(binary, async ({ path, bytes }) => {
    await own.append(path, tail.toBase64(), { isBase64: true });
    assert(isSame(await own.readBytes(path), Buffer.concat([bytes, tail])), path);
    assert(isSame(await own.readBytes(path, { version: 1 }), bytes), path);
  });
});

test("200: after all that the project holds the same files", async () => {
  const list = await own.list({ recursive: true, limit: 1 });
  assertEquals(list.total, files.length);
});

/** A part of the text that occurs in it once, as whoever edits a file would choose it. */
function uniquePart(text: string): string {
  for (let length = 20; length < text.length; length *= 2) {
    const from = Math.floor((text.length - length) / 2);
    const part = text.slice(from, from + length);
    if (part.isWellFormed() && text.indexOf(part) === text.lastIndexOf(part)) return part;
  }
  return text;
}
