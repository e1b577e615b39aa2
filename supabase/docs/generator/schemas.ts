/** The files of `supabase/schemas`, with the first sentence of each. */
import { code, wrap } from "./markdown.ts";

const FOLDER = new URL("../../schemas/", import.meta.url);

/** Throws `Error` if a file does not begin with a comment. */
export function schemasList(): string {
  const files = [...Deno.readDirSync(FOLDER)].map(({ name }) => name).filter((name) => name.endsWith(".sql"))
    .sort();
  return files.map((file) => {
    const [comment] = /^(?:-- .*\n)+/.exec(Deno.readTextFileSync(new URL(file, FOLDER))) ?? [];
    if (comment === undefined) throw new Error(`${file} does not begin with a comment`);
    const text = comment.replaceAll(/^-- /gm, "").replaceAll("\n", " ").trim();
    return wrap(`- [${code(file)}](../schemas/${file}): ${text.replace(/\.(?: .*)?$/, "")}`);
  }).join("\n");
}
