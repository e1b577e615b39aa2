/** The index of decisions, from their titles. */
import { table } from "./markdown.ts";

const FOLDER = new URL("../decisions/", import.meta.url);

export function decisionsTable(): string {
  const files = [...Deno.readDirSync(FOLDER)].map(({ name }) => name).filter((name) => /^\d{4}-/.test(name))
    .sort();
  return table(
    ["number", "decision"],
    files.map((file) => {
      const [, title = ""] = /^# (.+)$/m.exec(Deno.readTextFileSync(new URL(file, FOLDER))) ?? [];
      return [`[${file.slice(0, 4)}](${file})`, title];
    }),
  );
}
