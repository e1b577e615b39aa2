/**
 * Markdown (CommonMark, GitHub's extensions, front matter) as a tree of the few elements that are drawn. HTML in it is
 * never parsed: it is shown as the text that it is. Nothing but the elements and attributes listed here gets out.
 */
import GithubSlugger from "github-slugger";
import { fromMarkdown } from "mdast-util-from-markdown";
import { frontmatterFromMarkdown } from "mdast-util-frontmatter";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { type Handler, toHast } from "mdast-util-to-hast";
import { frontmatter } from "micromark-extension-frontmatter";
import { gfm } from "micromark-extension-gfm";
import { MARKDOWN_DEPTH_MAX } from "../../../../limits.ts";

/** A text, or an element. */
export type MarkdownNode = string | MarkdownElement;

export interface MarkdownElement {
  readonly tag: string;
  /** Addresses in `href` and `src` are as they were written. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly MarkdownNode[];
}

const TAGS = new Set(
  ("a blockquote br code del em h1 h2 h3 h4 h5 h6 hr img input li ol p pre section strong sup table tbody td th thead " +
    "tr ul").split(" "),
);
const HEADING = /^h[1-6]$/;

type Tree = ReturnType<typeof toHast>;

export function parseMarkdown(text: string): readonly MarkdownNode[] {
  const document = fromMarkdown(text, {
    extensions: [gfm(), frontmatter()],
    mdastExtensions: [gfmFromMarkdown(), frontmatterFromMarkdown()],
  });
  const tree = toHast(document, { handlers: { html, yaml } });
  const slugger = new GithubSlugger();
  return "children" in tree ? tree.children.flatMap((child) => nodesOf(child, slugger, 0)) : [];
}

/** Comments are not meant to be read. */
const html: Handler = (_state, { value }: { value: string }, parent) => {
  if (/^\s*<!--[^]*-->\s*$/.test(value)) return undefined;
  const code = { type: "element" as const, tagName: "code", properties: {}, children: [textOf(value)] };
  if (parent?.type === "paragraph" || parent?.type === "heading") return code;
  return { type: "element", tagName: "pre", properties: {}, children: [code] };
};

/** The front matter. */
const yaml: Handler = (_state, { value }: { value: string }) => {
  const properties = { className: ["language-yaml"] };
  const code = { type: "element" as const, tagName: "code", properties, children: [textOf(value)] };
  return { type: "element", tagName: "pre", properties: {}, children: [code] };
};

function textOf(value: string) {
  return { type: "text" as const, value };
}

function nodesOf(node: Tree, slugger: GithubSlugger, depth: number): MarkdownNode[] {
  if (node.type === "text") return [node.value];
  if (node.type !== "element") return [];
  const inside = depth > MARKDOWN_DEPTH_MAX
    ? [plainText(node)]
    : node.children.flatMap((child) => nodesOf(child, slugger, depth + 1));
  const { tagName: tag, properties } = node;
  if (!TAGS.has(tag)) return inside;
  const attributes = attributesOf(tag, properties);
  // Headings have GitHub's names; a prefix keeps them apart from the page's own.
  if (HEADING.test(tag) && attributes.id === undefined) {
    attributes.id = `user-content-${slugger.slug(plainText(node))}`;
  }
  return [{ tag, attributes, children: inside }];
}

function attributesOf(tag: string, properties: Readonly<Record<string, unknown>>): Record<string, string> {
  const { id, href, src, alt, title, start, checked, align, className } = properties;
  const attributes: Record<string, unknown> = { id, title };
  if (tag === "a") attributes.href = href;
  if (tag === "img") Object.assign(attributes, { src, alt });
  if (tag === "ol") attributes.start = start;
  if (tag === "input") attributes.checked = checked === true ? "true" : "false";
  if (tag === "td" || tag === "th") attributes.align = align;
  if (tag === "code" && Array.isArray(className)) {
    attributes.language = className.map(String).find((name) => name.startsWith("language-"))?.slice(9);
  }
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) =>
      typeof value === "string" || typeof value === "number" ? [[name, String(value)]] : []
    ),
  );
}

/** Without recursion: a node may be nested as deep as a text is long. */
function plainText(node: Tree): string {
  let text = "";
  const rest: Tree[] = [node];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (next.type === "text") text += next.value;
    else if ("children" in next) rest.push(...next.children.toReversed());
  }
  return text;
}
