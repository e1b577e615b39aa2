import { useState } from "preact/hooks";
import { notifyProblem } from "../state/notices.ts";
import { Icon } from "./icon.tsx";

interface Properties {
  readonly text: string;
  /** Names the text for a screen reader. */
  readonly what: string;
  /** What the button says: `Copy` unless there are others beside it. */
  readonly label?: string;
}

export function CopyButton({ text, what, label = "Copy" }: Properties) {
  const [copied, setCopied] = useState<string | null>(null);
  const isCopied = copied === text;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(text);
    } catch {
      notifyProblem("The browser did not allow copying. Select the text and copy it manually.");
    }
  };
  return (
    <button type="button" class="copy" onClick={copy}>
      <Icon name={isCopied ? "check" : "copy"} />
      {isCopied ? "Copied" : label}
      <span class="visually-hidden">{` ${what}`}</span>
    </button>
  );
}
