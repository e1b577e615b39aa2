import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import fc from "fast-check";
import {
  countOccurrences,
  type Piece,
  rewrite,
  sizeOf,
} from "../../../supabase/functions/api/files/rewrite.ts";
import { countNewlines, isUtf8 } from "../../../supabase/functions/api/files/segment.ts";
import { EDIT_LINES_REPORTED_MAX, SEGMENT_BYTES_MAX } from "../../../supabase/functions/api/limits.ts";
import { segmentOf } from "../segment_of.ts";

const MIB = SEGMENT_BYTES_MAX;
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Stored pieces with their bytes; `loads` counts the loaded ones. */
class PiecedText {
  readonly pieces: Piece[] = [];
  readonly #stored = new Map<string, Uint8Array>();
  loads = 0;

  constructor(contents: readonly Uint8Array[]) {
    for (const [index, bytes] of contents.entries()) {
      const id = String(index);
      this.#stored.set(id, bytes);
      const lines = { newlines: countNewlines(bytes), endsWithNewline: bytes.at(-1) === 10 };
      this.pieces.push({ kind: "stored", segment: segmentOf(id, bytes.length, lines) });
    }
  }

  readonly load = (piece: Piece): Promise<Uint8Array> => {
    this.loads++;
    const bytes = piece.kind === "new" ? piece.bytes : this.#stored.get(piece.segment.id);
    return bytes ? Promise.resolve(bytes) : Promise.reject(new Error("no such segment"));
  };

  async textOf(pieces: readonly Piece[]): Promise<string> {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    let text = "";
    for (const piece of pieces) text += decoder.decode(await this.load(piece), { stream: true });
    return text + decoder.decode();
  }
}

/** Cuts the text into pieces at any bytes. */
function cutText(text: string, places: readonly number[]): PiecedText {
  const bytes = bytesOf(text);
  const borders = [
    0,
    ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b),
    bytes.length,
  ];
  return new PiecedText(borders.slice(1).map((border, index) => bytes.slice(borders[index], border)));
}

async function collect(pieces: AsyncIterable<Piece>): Promise<Piece[]> {
  const collected: Piece[] = [];
  for await (const piece of pieces) collected.push(piece);
  return collected;
}

/** Returns the text with every occurrence replaced. */
async function rewritten({ pieces, load }: PiecedText, old: string, replacement: string): Promise<Piece[]> {
  const { touched } = await countOccurrences(pieces, load, old);
  return await collect(rewrite(pieces, load, old, replacement, touched));
}

/** Characters of 1 to 4 bytes with common first bytes, so that strings often almost match, and one of `replace`. */
const text = (minLength: number, maxLength: number) =>
  fc.array(fc.constantFrom("a", "b", "\n", "é", "è", "日", "旦", "😀", "😁", "$&"), { minLength, maxLength })
    .map((characters) => characters.join(""));
const places = fc.array(fc.nat(), { maxLength: 8 });

Deno.test("countOccurrences counts and numbers the lines like a plain search, whatever the borders", async () => {
  await fc.assert(
    fc.asyncProperty(text(0, 40), text(1, 4), places, async (whole, old, borders) => {
      const pieced = cutText(whole, borders);
      const { count, lines, touched } = await countOccurrences(pieced.pieces, pieced.load, old);
      const parts = whole.split(old);
      assertEquals(count, parts.length - 1);
      const before = parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join(old));
      assertEquals(lines, before.map((beginning) => beginning.split("\n").length));

      const overlapped = pieced.pieces.map(() => false);
      for (const beginning of before) {
        const from = bytesOf(beginning).length;
        let at = 0;
        for (const [index, piece] of pieced.pieces.entries()) {
          const to = at + sizeOf(piece);
          if (from < to && from + bytesOf(old).length > at) overlapped[index] = true;
          at = to;
        }
      }
      const full = pieced.pieces.map((piece) => sizeOf(piece) > 0);
      assertEquals(touched.filter((_, index) => full[index]), overlapped.filter((_, index) => full[index]));
    }),
    { numRuns: 2000 },
  );
});

Deno.test("rewrite equals replacing in the text, edit after edit, whatever the borders", async () => {
  const edits = fc.array(fc.tuple(text(1, 3), text(0, 3)), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(text(0, 40), edits, places, async (whole, changes, borders) => {
      const pieced = cutText(whole, borders);
      let pieces = pieced.pieces;
      let expected = whole;
      for (const [old, replacement] of changes) {
        const { count, touched } = await countOccurrences(pieces, pieced.load, old);
        assertEquals(count, expected.split(old).length - 1);
        pieces = await collect(rewrite(pieces, pieced.load, old, replacement, touched));
        expected = expected.replaceAll(old, () => replacement);
      }
      assertEquals(await pieced.textOf(pieces), expected);
      assert(changes.length === 0 || pieces.every((piece) => sizeOf(piece) > 0));
    }),
    { numRuns: 2000 },
  );
});

/** A full segment of text, with a mark at the beginning of a line. */
function full(mark = ""): Uint8Array {
  const line = bytesOf("a line of text, with é in it\n");
  const bytes = new Uint8Array(MIB).fill(0x2e);
  for (let at = 0; at + line.length <= MIB; at += line.length) bytes.set(line, at);
  bytes.set(bytesOf(mark), 10_000 * line.length);
  return bytes;
}

Deno.test("rewrite of one line makes one new piece, leaves the others and loads nothing else", async () => {
  const pieced = new PiecedText([full(), full("MARK"), full()]);
  const { count, touched } = await countOccurrences(pieced.pieces, pieced.load, "MARK");
  assertEquals([count, touched], [1, [false, true, false]]);
  pieced.loads = 0;
  const edited = await collect(rewrite(pieced.pieces, pieced.load, "MARK", "mark", touched));
  assertEquals(pieced.loads, 1);
  assertEquals(edited.map((piece) => piece.kind), ["stored", "new", "stored"]);
  assertStrictEquals(edited[0], pieced.pieces[0]);
  assertStrictEquals(edited[2], pieced.pieces[2]);
});

Deno.test("rewrite that outgrows a piece makes two halves, not a leftover", async () => {
  const pieced = new PiecedText([full("MARK")]);
  const edited = await rewritten(pieced, "MARK", "a longer mark é");
  assertEquals(edited.length, 2);
  for (const piece of edited) assert(sizeOf(piece) > MIB / 2 - 3 && isUtf8(await pieced.load(piece)));
});

Deno.test("rewrite over a border makes at most two new pieces while they fit", async () => {
  const [left, right] = [full(), full()];
  left.set(bytesOf("MA"), MIB - 2);
  right.set(bytesOf("RK"), 0);
  const pieced = new PiecedText([full(), left, right, full()]);
  const { lines, touched } = await countOccurrences(pieced.pieces, pieced.load, "MARK");
  assertEquals(touched, [false, true, true, false]);
  assertEquals(lines, [1 + countNewlines(full()) + countNewlines(left)]);
  const edited = await collect(rewrite(pieced.pieces, pieced.load, "MARK", "mk", touched));
  assertEquals(edited.map((piece) => piece.kind), ["stored", "new", "new", "stored"]);
});

Deno.test("rewrite keeps new pieces in bounds when a small text grows a hundredfold", async () => {
  const pieced = cutText("ab".repeat(20_000), [10, 30_000]);
  const replacement = "é".repeat(100);
  const edited = await rewritten(pieced, "a", replacement);
  assertEquals(await pieced.textOf(edited), `${replacement}b`.repeat(20_000));
  for (const piece of edited) assert(sizeOf(piece) <= MIB && isUtf8(await pieced.load(piece)));
});

Deno.test("a string that spans many pieces is found and replaced", async () => {
  const old = "0123456789".repeat(1000);
  const pieced = cutText(`x${old}${old}y`, Array.from({ length: 300 }, (_, index) => index * 67));
  assertEquals((await countOccurrences(pieced.pieces, pieced.load, old)).count, 2);
  assertEquals(await pieced.textOf(await rewritten(pieced, old, "-")), "x--y");
});

Deno.test("countOccurrences reports the first lines only, and counts all", async () => {
  const pieced = cutText("a\n".repeat(1000), [99]);
  const { count, lines } = await countOccurrences(pieced.pieces, pieced.load, "a");
  assertEquals(count, 1000);
  assertEquals(lines, Array.from({ length: EDIT_LINES_REPORTED_MAX }, (_, index) => index + 1));
});

Deno.test("a piece that cannot be loaded fails the search and the rewrite", async () => {
  const pieced = cutText("abcdef", [2, 4]);
  const load = (piece: Piece) =>
    piece === pieced.pieces[1] ? Promise.reject(new Error("gone")) : pieced.load(piece);
  await assertRejects(() => countOccurrences(pieced.pieces, load, "f"), Error, "gone");
  await assertRejects(
    () => collect(rewrite(pieced.pieces, load, "c", "x", [false, true, false])),
    Error,
    "gone",
  );
});
