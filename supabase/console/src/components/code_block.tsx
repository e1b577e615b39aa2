/** A text to read and to copy, which scrolls by itself. */
import { CopyButton } from "./copy_button.tsx";

interface Properties {
  readonly text: string;
  /** Names it for a screen reader: `the configuration of Cursor`. */
  readonly what: string;
}

export function CodeBlock({ text, what }: Properties) {
  return (
    <div class="code-block">
      <pre tabIndex={0} role="region" aria-label={what.charAt(0).toUpperCase() + what.slice(1)}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} what={what} />
    </div>
  );
}
