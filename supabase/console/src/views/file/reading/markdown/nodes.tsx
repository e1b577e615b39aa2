/** The elements of a document. This module creates each element: no text of a file is ever parsed as HTML. */
import { type ComponentChildren, h } from "preact";
import { type FilePlace, hrefOf } from "../../../../state/router.ts";
import { useContext } from "preact/hooks";
import { addressOf } from "./address.ts";
import { CodeBlock } from "./code_block.tsx";
import { DeadLinks } from "./dead_links.ts";
import type { MarkdownElement, MarkdownNode } from "./parse.ts";
import { ProjectImage } from "./project_image.tsx";

interface Context {
  readonly place: FilePlace;
  /** A link cannot contain another link. */
  readonly isInLink: boolean;
}

export function Nodes({ nodes, ...context }: Context & { readonly nodes: readonly MarkdownNode[] }) {
  return (
    <>
      {nodes.map((node, index) =>
        typeof node === "string" ? node : <Element key={index} element={node} {...context} />
      )}
    </>
  );
}

function Element({ element, ...context }: Context & { readonly element: MarkdownElement }) {
  const { tag: Tag, attributes, children } = element;
  const inside = <Nodes nodes={children} {...context} />;
  switch (Tag) {
    case "a":
      return <Link {...{ element, ...context }}>{inside}</Link>;
    case "img":
      return <Image {...{ element, ...context }} />;
    case "pre":
      return <CodeBlock {...codeOf(element)} />;
    case "table":
      return (
        <div class="document-table" role="region" aria-label="Table" tabIndex={0}>
          <table>{inside}</table>
        </div>
      );
    case "th":
    case "td":
      return <Tag class={attributes.align && `align-${attributes.align}`}>{inside}</Tag>;
    case "h1":
    case "h2":
    case "h3":
    case "h4":
    case "h5":
    case "h6":
      return <Heading {...{ element, ...context }}>{inside}</Heading>;
    case "input": {
      const isDone = attributes.checked === "true";
      return <input type="checkbox" disabled checked={isDone} aria-label={isDone ? "Done" : "Not done"} />;
    }
    case "ol":
      return <ol start={attributes.start === undefined ? undefined : Number(attributes.start)}>{inside}</ol>;
    case "br":
    case "hr":
      return <Tag />;
    default:
      return PLAIN.has(Tag) ? h(Tag, { id: attributes.id }, inside) : inside;
  }
}

const PLAIN = new Set("blockquote code del em li p section strong sup tbody thead tr ul".split(" "));

interface ElementProperties extends Context {
  readonly element: MarkdownElement;
  readonly children?: ComponentChildren;
}

function Heading({ element, place, isInLink, children }: ElementProperties) {
  const { tag, attributes: { id } } = element;
  const heading = id?.replace(/^user-content-/, "");
  const link = heading && !isInLink && (
    <a class="heading-link" href={hrefOf({ ...place, heading, line: undefined })}>
      <span aria-hidden="true">#</span>
      <span class="visually-hidden">Link to this heading</span>
    </a>
  );
  return h(tag, { id, tabIndex: -1 }, children, link);
}

function Link({ element, place, isInLink, children }: ElementProperties) {
  const dead = useContext(DeadLinks);
  const { href = "", title, id } = element.attributes;
  const address = isInLink ? null : addressOf(href, place);
  const inside = isInLink ? children : <Nodes nodes={element.children} place={place} isInLink />;
  if (address === null || address.kind === "inline") return <span title={title}>{inside}</span>;
  if (address.kind === "file" && dead.has(address.place.path)) {
    return (
      <a id={id} class="dead" href={hrefOf(address.place)} title={title ?? "There is no file at this path."}>
        {inside}
      </a>
    );
  }
  if (address.kind !== "external") return <a id={id} href={hrefOf(address.place)} title={title}>{inside}</a>;
  return <a id={id} href={address.href} title={title} target="_blank" rel="noopener noreferrer">{inside}</a>;
}

function Image({ element, place, isInLink }: ElementProperties) {
  const { src = "", alt = "", title } = element.attributes;
  const address = addressOf(src, place);
  if (address?.kind === "inline") return <img src={address.href} alt={alt} title={title} />;
  if (address?.kind === "file") return <ProjectImage {...{ alt, title }} place={address.place} />;
  const name = alt === "" ? "Image" : alt;
  if (address?.kind !== "external" || isInLink) return <span class="image-missing">{name}</span>;
  return (
    <a class="image-missing" href={address.href} title={title} target="_blank" rel="noopener noreferrer">
      {name} (image on {new URL(address.href).host})
    </a>
  );
}

function codeOf({ children }: MarkdownElement): { readonly text: string; readonly language: string } {
  const [code] = children;
  if (code === undefined || typeof code === "string") return { text: code ?? "", language: "" };
  return { text: code.children.join(""), language: code.attributes.language ?? "" };
}
