/**
 * Instructions for each client: the sections of supabase/docs/connect.md with code. The build copies the document beside the
 * page.
 */

export interface Step {
  /** The paragraph above the code. */
  readonly text: string;
  readonly language: string;
  readonly template: string;
}

export interface Client {
  readonly name: string;
  readonly steps: readonly Step[];
  /** What a person does in an app that signs in, in order; empty for a client that has a key. */
  readonly signIn: readonly string[];
}

/** The document's address in settings of MCP clients that cannot read a variable. */
const LOCAL_ADDRESS = "http://127.0.0.1:54321/functions/v1/api";

/** Stands for the key until one is created. */
export const NO_KEY = "oa_...";

export async function loadClients(signal: AbortSignal): Promise<readonly Client[]> {
  const response = await fetch("connect.md", { cache: "no-cache", signal });
  if (!response.ok) throw new Error(`connect.md: HTTP status ${response.status}`);
  return clientsOf(await response.text());
}

/** The code before the first section sets the variable that some settings read. */
export function clientsOf(document: string): readonly Client[] {
  const [start = "", ...sections] = document.split(/^## /m);
  const shared = stepsOf(start);
  return sections.map((section) => {
    const [name = "", body = ""] = splitOnce(section, "\n");
    const steps = stepsOf(body);
    const signIn = [...body.matchAll(/^\d\. (.+(?:\n {3}.+)*)/gm)].map(([, text = ""]) => plain(text));
    return { name, steps: steps.some(readsVariable) ? [...steps, ...shared] : steps, signIn };
  }).filter(({ steps }) => steps.length > 0);
}

function stepsOf(section: string): readonly Step[] {
  return [...section.matchAll(/((?:(?!```)[^])*)^```(\w+)\n([^]*?)^```$/gm)].map(
    ([, above = "", language = "", template = ""]) => ({ text: lastParagraph(above), language, template }),
  );
}

function lastParagraph(markdown: string): string {
  const paragraphs = markdown.replace(/<!--[^]*?-->/g, "").trim().split(/\n{2,}/);
  return plain(paragraphs.at(-1) || "In a terminal:");
}

function plain(markdown: string): string {
  return markdown.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", "").replaceAll(/\s+/g, " ");
}

/** Whether the settings name a variable instead of containing the key, because their file is shared. */
function readsVariable({ language, template }: Step): boolean {
  return /^(json|toml)$/.test(language) && /"(\$\{)?FILESTORE_API_KEY/.test(template);
}

function splitOnce(text: string, separator: string): readonly string[] {
  const index = text.indexOf(separator);
  return [text.slice(0, index), text.slice(index + separator.length)];
}

/**
 * Returns the text with address and key in place of the variables. Variables that a client reads from the environment, or
 * asks for, stay.
 * @param baseUrl of the function, without a slash at its end
 */
export function fill({ language, template }: Step, baseUrl: string, key: string): string {
  const addressed = template.replaceAll(LOCAL_ADDRESS, baseUrl);
  switch (language) {
    case "text":
      return addressed.replace("oa_...", key);
    case "sh":
      return addressed.replaceAll("${BASE_URL:?}", baseUrl)
        .replaceAll("${FILESTORE_API_KEY:?}", key)
        .replace("=oa_...", `=${key}`);
    case "ts":
      return addressed.replace(
        "const { BASE_URL, FILESTORE_API_KEY } = process.env;",
        `const BASE_URL = ${JSON.stringify(baseUrl)};\nconst FILESTORE_API_KEY = ${JSON.stringify(key)};`,
      );
    case "python":
      return addressed.replace("import json, os,", "import json,")
        .replace('os.environ["BASE_URL"]', JSON.stringify(baseUrl))
        .replace('os.environ["FILESTORE_API_KEY"]', JSON.stringify(key));
    default:
      // `${FILESTORE_API_KEY}` stays, because its file is shared.
      return addressed.replace(/\$(?:\{env:FILESTORE_API_KEY\}|FILESTORE_API_KEY)/, key);
  }
}
