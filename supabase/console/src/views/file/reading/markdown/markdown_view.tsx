/** @jsxImportSource preact */
/// <reference lib="dom" />
/** A rendered document. */
import { useEffect, useRef, useState } from "preact/hooks";
import { Loading } from "../../../../components/states.tsx";
import type { FormProperties } from "../reader.tsx";
import { Nodes } from "./nodes.tsx";
import type { MarkdownNode } from "./parse.ts";

export function MarkdownView({ place, text, onProblem }: FormProperties) {
  const [nodes, setNodes] = useState<readonly MarkdownNode[] | null>(null);
  const article = useRef<HTMLElement>(null);
  const { heading } = place;
  useEffect(() => {
    const worker = new Worker(new URL("./markdown_worker.ts", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<readonly MarkdownNode[]>) => {
      setNodes(data);
      worker.terminate();
    });
    worker.addEventListener("error", () => onProblem("The document cannot be rendered; this is its source."));
    worker.postMessage(text);
    return () => worker.terminate();
  }, [text]);
  useEffect(() => {
    if (heading === undefined || nodes === null) return;
    const target = article.current?.querySelector<HTMLElement>(
      `[id="${CSS.escape(`user-content-${heading}`)}"]`,
    );
    target?.scrollIntoView({ block: "start" });
    target?.focus({ preventScroll: true });
  }, [heading, nodes]);
  if (nodes === null) return <Loading what="the document" />;
  return (
    <article class="document" ref={article} aria-label={`Content of ${place.path}`}>
      <Nodes nodes={nodes} place={place} isInLink={false} />
    </article>
  );
}
