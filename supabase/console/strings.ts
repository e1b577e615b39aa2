/** `deno task strings`: prints every text that a person can read in the console, with its place, to read them at a stretch. */
/// <reference lib="deno.ns" />
import { tsxLanguage } from "@codemirror/lang-javascript";

type Node = ReturnType<typeof tsxLanguage.parser.parse>["topNode"];

const ROOT = new URL("src/", import.meta.url);
/** Attributes whose values are for programs. */
const SILENT = new Set(
  ("accept autoComplete class data-filter for href icon id inputMode kind lang name pattern rel role scope src target type " +
    "viewBox d aria-current aria-haspopup aria-hidden aria-live aria-labelledby layout")
    .split(" "),
);

const LITERALS = new Set(["String", "TemplateString", "JSXAttributeValue"]);

if (import.meta.main) {
  const out = Deno.stdout.writable.getWriter();
  for await (const path of filesBelow(ROOT)) {
    const source = await Deno.readTextFile(path);
    for (const { text, offset } of readableTexts(source)) {
      const line = source.slice(0, offset).split("\n").length;
      await out.write(
        new TextEncoder().encode(`${path.pathname.slice(ROOT.pathname.length)}:${line}: ${text}\n`),
      );
    }
  }
}

async function* filesBelow(folder: URL): AsyncIterable<URL> {
  const entries = (await Array.fromAsync(Deno.readDir(folder))).sort((a, b) => a.name < b.name ? -1 : 1);
  for (const { name, isDirectory } of entries) {
    if (isDirectory) yield* filesBelow(new URL(`${name}/`, folder));
    else if (/\.tsx?$/.test(name)) yield new URL(name, folder);
  }
}

interface Found {
  readonly text: string;
  readonly offset: number;
}

/** Returns the texts that a person reads, with `{…}` for what is known only when the program runs. */
export function readableTexts(source: string): Found[] {
  const found: Found[] = [];
  const add = (node: Node, text: string) => {
    if (/\p{L}/u.test(text.replaceAll("{…}", ""))) found.push({ text, offset: node.from });
  };
  const visit = (node: Node) => {
    if (node.name === "JSXElement") add(node, textOf(node, source));
    else if (LITERALS.has(node.name)) {
      if (isRead(node, source)) add(node, literal(node, source));
    }
    for (const child of childrenOf(node)) visit(child);
  };
  visit(tsxLanguage.parser.parse(source).topNode);
  return found;
}

/** Returns the text of an element without that of the elements in it, which are printed by themselves. */
function textOf(element: Node, source: string): string {
  const parts = childrenOf(element).map((child) => {
    if (child.name === "JSXText") return unwrapped(source.slice(child.from, child.to));
    if (child.name === "JSXElement") return "{…}";
    return child.name === "JSXEscape" ? escaped(child, source) : "";
  });
  const text = parts.join("").replace(/\s+/g, " ").trim();
  return childrenOf(element).some(({ name, from, to }) =>
      name === "JSXText" && /\p{L}/u.test(source.slice(from, to))
    )
    ? text
    : "";
}

/** A line break at the edge of a text is no space. */
function unwrapped(text: string): string {
  return text.replace(/^\s*\n\s*|\s*\n\s*$/g, "").replace(/\s+/g, " ");
}

function escaped(node: Node, source: string): string {
  const inside = childrenOf(node).find(({ name }) => name === "String" || name === "TemplateString");
  return inside === undefined ? "{…}" : literal(inside, source);
}

function literal(node: Node, source: string): string {
  let text = "";
  let at = node.from + 1;
  for (const { name, from, to } of childrenOf(node)) {
    if (name !== "Interpolation") continue;
    text += `${source.slice(at, from)}{…}`;
    at = to;
  }
  return (text + source.slice(at, node.to - 1)).replace(/\s+/g, " ");
}

/** Whether a literal is read by a person: as an attribute that is not for programs, or because it reads like words. */
function isRead(node: Node, source: string): boolean {
  const parent = node.parent;
  const text = literal(node, source);
  if (parent?.name === "ImportDeclaration" || parent?.name === "ExportDeclaration") return false;
  if (parent?.name === "JSXEscape" && parent.parent?.name === "JSXElement") return text.trim() !== "";
  const attribute = attributeOf(node, source);
  if (attribute !== null) return !SILENT.has(attribute) && !attribute.startsWith("on");
  if (/^useLoad$/.test(calleeOf(node, source))) return false;
  return /^\p{Lu}\p{Ll}|\p{L}{2,}[,.:;]? \p{L}|\p{L}{2,} \{…\}|[.?…]$/u.test(text);
}

function attributeOf(node: Node, source: string): string | null {
  for (let one: Node | null = node.parent; one !== null; one = one.parent) {
    if (one.name === "JSXElement" || one.name === "ArrowFunction") return null;
    if (one.name === "JSXAttribute") return source.slice(one.from, one.to).split("=", 1)[0] ?? null;
  }
  return null;
}

/** Returns the name of the function whose direct argument the node is. */
function calleeOf(node: Node, source: string): string {
  const call = node.parent?.name === "ArgList" ? node.parent.parent : null;
  return call?.firstChild ? source.slice(call.firstChild.from, call.firstChild.to) : "";
}

function childrenOf(node: Node): Node[] {
  const children: Node[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
  return children;
}
