/** @jsxImportSource preact */
import { dismiss, notices } from "../state/notices.ts";
import { Icon } from "../components/icon.tsx";

/** The live region is always rendered, so that screen readers announce what is added to it. */
export function Notices() {
  return (
    <div class="notices" role="status" aria-live="polite" aria-label="Notices">
      {notices.value.map(({ id, kind, text, action }) => (
        <div key={id} class={`notice ${kind}`}>
          <span>{text}</span>
          {action && (
            <button
              type="button"
              onClick={() => {
                dismiss(id);
                action.run();
              }}
            >
              {action.label}
            </button>
          )}
          <button type="button" class="icon-button" aria-label="Dismiss" onClick={() => dismiss(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
