/** @jsxImportSource preact */
import { CopyButton } from "../../../../components/copy_button.tsx";

interface Properties {
  readonly text: string;
  /** As the document names it. */
  readonly language: string;
}

export function CodeBlock({ text, language }: Properties) {
  return (
    <div class="code-block">
      <pre tabIndex={0} role="region" aria-label={language === "" ? "Code" : `Code in ${language}`}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} what="code" />
    </div>
  );
}
