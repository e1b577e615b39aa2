/**
 * Parses Markdown (CommonMark with GitHub's extensions, front matter and footnotes) into a tree of a few kinds of elements.
 * HTML in it is never parsed, but shown as plain text. The result contains only the elements and attributes named here.
 */
import GithubSlugger from "github-slugger";
import MarkdownIt, { type Token } from "markdown-it";
import footnotes from "markdown-it-footnote";

export type MarkdownNode = string | MarkdownElement;

export interface MarkdownElement {
  readonly tag: string;
  /** Addresses in `href` and `src` are unchanged from the document. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly MarkdownNode[];
}

/** An element whose children are still being added. */
interface Draft extends MarkdownElement {
  readonly attributes: Record<string, string>;
  readonly children: MarkdownNode[];
}

const TAGS = new Set(
  ("a blockquote br code del em h1 h2 h3 h4 h5 h6 hr img li ol p pre section strong sup table tbody td th thead tr ul")
    .split(" "),
);
const FRONT_MATTER = /^---[ \t]*\r?\n([^]*?)\r?\n---[ \t]*(?:\r?\n|$)/;
const TASK = /^\[([ xX])\][ \u00a0]/;
const COMMENT = /^\s*<!--[^]*-->\s*$/;

// Accepts every address: the view decides which are valid, and also shows the others.
const parser = new MarkdownIt({ html: true, linkify: true }).use(footnotes);
parser.validateLink = () => true;

export function parseMarkdown(source: string): readonly MarkdownNode[] {
  const text = source.replace(/^\uFEFF/, "");
  const [whole = "", frontMatter] = FRONT_MATTER.exec(text) ?? [];
  const tree = new TreeBuilder();
  if (frontMatter !== undefined) tree.addCode(frontMatter, "yaml");
  tree.addAll(parser.parse(text.slice(whole.length), {}));
  return tree.root.children;
}

class TreeBuilder {
  readonly root: Draft = { tag: "root", attributes: {}, children: [] };
  readonly #open: Draft[] = [this.root];
  readonly #slugger = new GithubSlugger();

  addAll(tokens: readonly Token[]): void {
    for (const token of tokens) this.#add(token);
  }

  addCode(text: string, language = ""): void {
    const attributes: Record<string, string> = language === "" ? {} : { language };
    this.#put({ tag: "pre", attributes: {}, children: [{ tag: "code", attributes, children: [text] }] });
  }

  #add(token: Token): void {
    const { type, content, info, children } = token;
    switch (type) {
      case "text":
      case "text_special":
        return this.#put(content);
      case "softbreak":
        return this.#put("\n");
      case "inline":
        return this.addAll(children ?? []);
      case "code_inline":
        return this.#put({ tag: "code", attributes: {}, children: [content] });
      case "fence":
        return this.addCode(content, info.trim().split(/\s+/)[0] ?? "");
      case "code_block":
        return this.addCode(content);
      case "html_block":
        return COMMENT.test(content) ? undefined : this.addCode(content.trimEnd());
      case "html_inline":
        if (!COMMENT.test(content)) this.#put({ tag: "code", attributes: {}, children: [content] });
        return;
      case "image": {
        const alt = parser.renderer.renderInlineAsText(children ?? [], parser.options, {});
        return this.#put({ tag: "img", attributes: { ...attributesOf(token), alt }, children: [] });
      }
      case "footnote_ref":
      case "footnote_anchor":
        return this.#put(footnoteLink(type, token));
      case "footnote_block_open":
        this.#openElement("section", {});
        return this.#openElement("ol", {});
      case "footnote_block_close":
        this.#close();
        return this.#close();
      case "footnote_open":
        return this.#openElement("li", { id: `user-content-fn-${footnoteNumber(token)}` });
      case "footnote_close":
        return this.#close();
    }
    // The paragraphs of a tight list get no element.
    if (token.hidden) return;
    const tag = token.tag === "s" ? "del" : token.tag;
    if (token.nesting > 0) this.#openElement(tag, attributesOf(token));
    else if (token.nesting < 0) this.#close();
    else if (TAGS.has(tag)) this.#put({ tag, attributes: {}, children: [] });
  }

  #openElement(tag: string, attributes: Record<string, string>): void {
    const element: Draft = { tag, attributes, children: [] };
    this.#put(element);
    this.#open.push(element);
  }

  #close(): void {
    const closed = this.#open.pop();
    // GitHub's names of headings, with a prefix that separates them from the page's own ids.
    if (closed !== undefined && /^h[1-6]$/.test(closed.tag)) {
      closed.attributes.id = `user-content-${this.#slugger.slug(textOf(closed))}`;
    }
  }

  #put(node: MarkdownNode): void {
    const parent = this.#open.at(-1) ?? this.root;
    const task = typeof node === "string" ? TASK.exec(node) : null;
    if (typeof node !== "string" || task === null || !this.#isStartOfItem()) {
      parent.children.push(node);
      return;
    }
    const checked = task[1] === " " ? "false" : "true";
    parent.children.push(
      { tag: "input", attributes: { checked }, children: [] },
      ` ${node.slice(task[0].length)}`,
    );
  }

  /** Returns whether the current list item is still empty, apart from its paragraph element. */
  #isStartOfItem(): boolean {
    const parent = this.#open.at(-1);
    const item = parent?.tag === "p" ? this.#open.at(-2) : parent;
    return item?.tag === "li" && textOf(item) === "";
  }
}

function attributesOf(token: Token): Record<string, string> {
  const attributes: Record<string, string> = {};
  for (const name of ["href", "src", "title", "start"]) {
    const value = token.attrGet(name);
    if (value !== null) attributes[name] = String(value);
  }
  const align = /text-align:(center|right)/.exec(String(token.attrGet("style") ?? ""))?.[1];
  if (align !== undefined) attributes.align = align;
  return attributes;
}

/** Returns a link to the note, or from the note back to the text. */
function footnoteLink(type: "footnote_ref" | "footnote_anchor", token: Token): MarkdownElement {
  const number = footnoteNumber(token);
  const [id, href, text] = type === "footnote_ref"
    // The note links back only to its first reference, so only that one needs an id.
    ? [token.meta?.subId ? "" : `user-content-fnref-${number}`, `#fn-${number}`, String(number)]
    : ["", `#fnref-${number}`, "↩"];
  const link = { tag: "a", attributes: { href, ...(id === "" ? {} : { id }) }, children: [text] };
  return type === "footnote_ref" ? { tag: "sup", attributes: {}, children: [link] } : link;
}

/** Returns the number of a note, from 1. */
function footnoteNumber({ meta }: Token): number {
  const id: unknown = meta?.id;
  return (typeof id === "number" ? id : 0) + 1;
}

function textOf(node: MarkdownNode): string {
  return typeof node === "string" ? node : node.children.map(textOf).join("");
}
