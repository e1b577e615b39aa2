/** @jsxImportSource preact */
/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { notifyProblem } from "../state/notices.ts";
import { Icon } from "./icon.tsx";

/** Copies a text; `what` names it for a screen reader. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
    } catch {
      notifyProblem("The browser did not allow copying. Select the text and copy it manually.");
    }
  };
  return (
    <button type="button" class="copy" onClick={copy}>
      <Icon name={isCopied ? "check" : "copy"} />
      {isCopied ? "Copied" : "Copy"}
      <span class="visually-hidden">{` ${what}`}</span>
    </button>
  );
}
