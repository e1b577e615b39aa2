/** `deno task strings` finds what people read in the console, and leaves out what programs read. */
import { assertEquals } from "@std/assert";
import { readableTexts } from "../../../supabase/console/strings.ts";

const SOURCE = `
import { Icon } from "../components/icon.tsx";
const HINT = "Select two versions to compare.";
const KIND = "read-only";
export function Card({ count }: { readonly count: number }) {
  notify(\`Deleted \${count} files.\`);
  return (
    <section class="card wide" aria-labelledby="card-title" aria-label="Versions of the file">
      <p>
        Signed in as <strong>{count}</strong>, with
        all rights.
      </p>
      <Icon name="trash" />
      <button type="button" onClick={() => goTo("files")} title="Delete the file">Delete</button>
    </section>
  );
}
`;

Deno.test("texts, labels and messages are found as sentences; classes, ids, paths and names of kinds are not", () => {
  assertEquals(readableTexts(SOURCE).map(({ text }) => text), [
    "Select two versions to compare.",
    "Deleted {…} files.",
    "Versions of the file",
    "Signed in as {…}, with all rights.",
    "Delete",
    "Delete the file",
  ]);
});
