import { useState } from "preact/hooks";
import { purgeFile } from "../../api/owning.ts";
import { ConfirmDialog } from "../../components/confirm_dialog.tsx";
import { formatCount, nameOf, visible } from "../../format.ts";
import { announceChange } from "../../state/changes.ts";
import { endUndo, notify } from "../../state/notices.ts";

interface Properties {
  readonly projectId: string;
  readonly path: string;
  readonly onErased?: () => void;
  readonly onClose: () => void;
}

/** Erases a file with its whole history, once the person has typed its name. */
export function PurgeDialog({ projectId, path, onErased, onClose }: Properties) {
  const [attempt] = useState(() => crypto.randomUUID());
  const name = visible(nameOf(path));
  return (
    <ConfirmDialog
      title={`Erase ${name} for good?`}
      action="Erase for good"
      label={`Type the file's name, ${name}`}
      expected={{ text: name, problem: `must be ${name}` }}
      work={async () => {
        const { versions } = await purgeFile({ projectId, path }, attempt);
        endUndo({ projectId, path });
        announceChange({ path, isDeleted: true });
        onClose();
        notify(`Erased ${name} for good, with ${formatCount(versions, "version")}.`);
        onErased?.();
      }}
      onClose={onClose}
    >
      <p>
        This erases all versions of <strong class="path">{visible(path)}</strong>{" "}
        with their notes, removes the file from search, and revokes the links to it. Copies at other paths
        stay. You cannot undo this.
      </p>
    </ConfirmDialog>
  );
}
