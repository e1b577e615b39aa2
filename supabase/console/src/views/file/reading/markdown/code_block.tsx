import { typeOfFence } from "../../../../code/languages.ts";
import type { Span } from "../../../../code/highlight.ts";
import { CopyButton } from "../../../../components/copy.tsx";
import { useSeen } from "../../../../components/use_seen.ts";
import { CODE_HIGHLIGHT_CHARACTERS_MAX } from "../../../../limits.ts";
import { useLoad } from "../../../../state/use_load.ts";

interface Properties {
  readonly text: string;
  /** The language as the document names it. */
  readonly language: string;
}

export function CodeBlock({ text, language }: Properties) {
  const { room, isSeen } = useSeen<HTMLDivElement>();
  const spans = useHighlighted(text, isSeen ? typeOfFence(language) : undefined);
  return (
    <div class="code-block" ref={room}>
      <pre tabIndex={0} role="region" aria-label={language === "" ? "Code" : `Code in ${language}`}>
        <code>{spans?.map(drawSpan) ?? text}</code>
      </pre>
      <CopyButton text={text} what="code" />
    </div>
  );
}

function drawSpan({ text, classes }: Span, index: number) {
  return classes === "" ? text : <span key={index} class={classes}>{text}</span>;
}

/**
 * Returns null or undefined while the text is plain: before the language is loaded, without a language, or if the text is
 * too long.
 */
function useHighlighted(text: string, mimeType: string | undefined): readonly Span[] | null | undefined {
  return useLoad(`highlighted ${mimeType} ${text}`, async () => {
    if (mimeType === undefined || text.length > CODE_HIGHLIGHT_CHARACTERS_MAX) return null;
    const { adoptColours, highlight } = await import("../../../../code/highlight.ts");
    const spans = await highlight(text, mimeType);
    adoptColours();
    return spans;
  }).data;
}
