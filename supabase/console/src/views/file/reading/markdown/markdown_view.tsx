import { visible } from "../../../../format.ts";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Loading } from "../../../../components/states.tsx";
import { DOCUMENT_BLOCKS_PER_STEP } from "../../../../limits.ts";
import type { FilePlace } from "../../../../state/router.ts";
import type { FormProperties } from "../form.ts";
import { DeadLinks, useDeadLinks } from "./dead_links.ts";
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
    return whenThere(article.current, `user-content-${heading}`, (target) => {
      target.scrollIntoView({ block: "start" });
      target.focus({ preventScroll: true });
    });
  }, [heading, nodes]);
  const dead = useDeadLinks(nodes, place);
  if (nodes === null) return <Loading what="the document" />;
  return (
    <article class="document" ref={article} aria-label={`Content of ${visible(place.path)}`}>
      <DeadLinks.Provider value={dead}>
        <Blocks nodes={nodes} place={place} />
      </DeadLinks.Provider>
    </article>
  );
}

/** Draws a bounded number of blocks at a time, so that the page responds meanwhile. Drawn blocks are not drawn again. */
function Blocks({ nodes, place }: { readonly nodes: readonly MarkdownNode[]; readonly place: FilePlace }) {
  const [count, setCount] = useState(DOCUMENT_BLOCKS_PER_STEP);
  const parts = useMemo(
    () =>
      Array.from({ length: Math.ceil(nodes.length / DOCUMENT_BLOCKS_PER_STEP) }, (_, index) => {
        const start = index * DOCUMENT_BLOCKS_PER_STEP;
        const part = nodes.slice(start, start + DOCUMENT_BLOCKS_PER_STEP);
        return <Nodes key={index} nodes={part} place={place} isInLink={false} />;
      }),
    [nodes, place],
  );
  useEffect(() => {
    if (count >= nodes.length) return;
    const timer = setTimeout(() => setCount(count + DOCUMENT_BLOCKS_PER_STEP));
    return () => clearTimeout(timer);
  }, [count, nodes]);
  return <>{parts.slice(0, Math.ceil(count / DOCUMENT_BLOCKS_PER_STEP))}</>;
}

/** Calls back with the element of this name once it is drawn. Returns a function that stops the wait. */
function whenThere(
  within: HTMLElement | null,
  id: string,
  found: (element: HTMLElement) => void,
): (() => void) | undefined {
  if (within === null) return undefined;
  const observer = new MutationObserver(findHeading);
  observer.observe(within, { childList: true, subtree: true });
  findHeading();
  return () => observer.disconnect();
  function findHeading(): void {
    const element = within?.querySelector<HTMLElement>(`[id="${CSS.escape(id)}"]`);
    if (!element) return;
    observer.disconnect();
    found(element);
  }
}
