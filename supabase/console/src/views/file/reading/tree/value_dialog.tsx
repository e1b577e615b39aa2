import { CopyButton } from "../../../../components/copy_button.tsx";
import { Dialog } from "../../../../components/dialog.tsx";
import { textOf } from "../json_spans.ts";

interface Properties {
  readonly path: string;
  /** As it is written in the file. */
  readonly written: string;
  readonly onClose: () => void;
}

/** A value in full: of a string its text, with its line breaks. */
export function ValueDialog({ path, written, onClose }: Properties) {
  const text = textOf(written, 0, written.length);
  return (
    <Dialog title={path} onClose={onClose} isWide>
      <pre class="json-text" tabIndex={0}>{text}</pre>
      <footer class="dialog-foot">
        <CopyButton text={text} what="value" label="Copy value" />
        <CopyButton text={path} what={path} label="Copy path" />
      </footer>
    </Dialog>
  );
}
