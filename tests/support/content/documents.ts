/** The parts of the documents that tests examine: blocks of code, headings and links. */
import { dirname, join, normalize } from "node:path";
import { documents } from "../../../supabase/docs/generate.ts";
import { REPOSITORY } from "../stack/command.ts";

export interface CodeBlock {
  readonly language: string;
  readonly text: string;
  /** The line of the opening fence, counted from 1. */
  readonly line: number;
  /** The text of the HTML comment directly above it, if there is one. */
  readonly marker: string | undefined;
}

export interface Link {
  readonly target: string;
  readonly line: number;
}

export interface Document {
  /** Relative to the repository. */
  readonly path: string;
  readonly lines: readonly string[];
  readonly blocks: readonly CodeBlock[];
  /** The names that GitHub gives the headings. */
  readonly anchors: ReadonlySet<string>;
  readonly links: readonly Link[];
}

export async function readDocuments(): Promise<Document[]> {
  const paths = await documents();
  return await Promise.all(
    paths.map(async (path) => parseDocument(path, await Deno.readTextFile(join(REPOSITORY, path)))),
  );
}

export async function readDocument(path: string): Promise<Document> {
  return parseDocument(path, await Deno.readTextFile(join(REPOSITORY, path)));
}

export function parseDocument(path: string, text: string): Document {
  const lines = text.split("\n");
  const blocks: CodeBlock[] = [];
  const anchors = new Set<string>();
  const links: Link[] = [];
  let open: { language: string; line: number; marker: string | undefined; body: string[] } | undefined;
  for (const [index, line] of lines.entries()) {
    const fence = /^```(\w*)$/.exec(line);
    if (open) {
      if (fence) {
        const { body, ...block } = open;
        blocks.push({ ...block, text: body.join("\n") + "\n" });
        open = undefined;
      } else open.body.push(line);
    } else if (fence) {
      open = { language: fence[1] ?? "", line: index + 1, marker: markerAbove(lines, index), body: [] };
    } else {
      const heading = /^#+ (.+)$/.exec(line)?.[1];
      if (heading !== undefined) anchors.add(anchorOf(heading, anchors));
      const outsideCode = line.replaceAll(/`[^`]*`/g, (code) => "x".repeat(code.length));
      for (const { index: at } of outsideCode.matchAll(/\]\(/g)) {
        const target = /^\]\(([^)]*)\)/.exec(line.slice(at))?.[1];
        if (target !== undefined) links.push({ target, line: index + 1 });
      }
    }
  }
  if (open) throw new Error(`${path}:${open.line}: the block of code has no end`);
  return { path, lines, blocks, anchors, links };
}

/** The HTML comment above a fence, with at most one empty line in between. */
function markerAbove(lines: readonly string[], fence: number): string | undefined {
  const above = lines[fence - 1] === "" ? lines[fence - 2] : lines[fence - 1];
  return /^<!-- (.+) -->$/.exec(above ?? "")?.[1];
}

/** GitHub's name for a heading: lower case, no punctuation, hyphens for spaces, numbered if repeated. */
function anchorOf(heading: string, taken: ReadonlySet<string>): string {
  const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
  const base = text.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-");
  let name = base;
  for (let count = 1; taken.has(name); count++) name = `${base}-${count}`;
  return name;
}

/** The file of a relative link, relative to the repository; null for an external address. */
export function linkedFile(document: Document, target: string): { file: string; anchor: string } | null {
  if (/^[a-z]+:/.test(target)) return null;
  const [file = "", anchor = ""] = target.split("#");
  return {
    file: file === "" ? document.path : normalize(join(dirname(document.path), file)),
    anchor,
  };
}

/** The lines below a heading, up to the next one of the same or a higher level. */
export function section(document: Document, heading: string): string[] {
  const start = document.lines.indexOf(heading);
  if (start < 0) throw new Error(`${document.path} has no line '${heading}'`);
  const level = heading.indexOf(" ");
  const end = document.lines.findIndex((line, index) =>
    index > start && /^#+ /.test(line) && line.indexOf(" ") <= level
  );
  return document.lines.slice(start + 1, end < 0 ? undefined : end);
}
