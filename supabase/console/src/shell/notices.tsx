import { dismiss, notices } from "../state/notices.ts";
import { projectId } from "../state/projects.ts";
import { IconButton } from "../components/icon.tsx";

/** The live region is always rendered, so that screen readers announce what is added to it. */
export function Notices() {
  const shown = notices.value.filter(({ about }) =>
    about === undefined || about.projectId === projectId.value
  );
  return (
    <div class="notices" role="status" aria-live="polite" aria-label="Notices">
      {shown.map(({ id, kind, text, undo }) => (
        <div key={id} class={`notice ${kind}`}>
          <span>{text}</span>
          {undo && (
            <button
              type="button"
              aria-label={`Undo ${undo.what}`}
              onClick={() => {
                dismiss(id);
                undo.run();
              }}
            >
              Undo
            </button>
          )}
          <IconButton icon="close" label="Dismiss" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
}
