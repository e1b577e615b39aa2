import { useEffect, useState } from "preact/hooks";
import { typeOfFence } from "../../../../code/fences.ts";
import type { Span } from "../../../../code/highlight.ts";
import { CopyButton } from "../../../../components/copy.tsx";
import { useSeen } from "../../../../components/use_seen.ts";
import { CODE_HIGHLIGHT_CHARACTERS_MAX } from "../../../../limits.ts";

interface Properties {
  readonly text: string;
  /** As the document names it. */
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

/** Null as long as the text is plain: before the language is loaded, without one, or because the text is too long. */
function useHighlighted(text: string, mimeType: string | undefined): readonly Span[] | null {
  const [done, setDone] = useState<{ readonly key: string; readonly spans: readonly Span[] | null } | null>(
    null,
  );
  const key = `${mimeType} ${text}`;
  useEffect(() => {
    if (mimeType === undefined || text.length > CODE_HIGHLIGHT_CHARACTERS_MAX) return;
    let isGone = false;
    const load = async () => {
      const { adoptColours, highlight } = await import("../../../../code/highlight.ts");
      const spans = await highlight(text, mimeType);
      if (isGone) return;
      adoptColours();
      setDone({ key, spans });
    };
    // Colours that cannot be loaded leave the text as it is.
    load().catch(() => {});
    return () => {
      isGone = true;
    };
  }, [key]);
  return done?.key === key ? done.spans : null;
}
