/** What can be done with the chosen deleted files. */
import { useState } from "preact/hooks";
import type { FileRecord } from "../../api/records.ts";
import { Icon } from "../../components/icon.tsx";
import type { Selection } from "../../components/selection.ts";
import { keepFocus, SelectionBar } from "../../components/selection_parts.tsx";
import { announceChange } from "../../state/changes.ts";
import { describeRefusal, restoreSelected } from "../../state/many.ts";
import { notifyProblem } from "../../state/notices.ts";

interface Properties {
  readonly projectId: string;
  readonly files: readonly FileRecord[];
  readonly selection: Selection;
}

export function RestoreSelected({ projectId, files, selection }: Properties) {
  const [isBusy, setBusy] = useState(false);
  const restore = async () => {
    setBusy(true);
    try {
      await restoreSelected(projectId, files.filter(({ path }) => selection.has(path)));
      selection.clear();
      keepFocus(selection.chosen);
    } catch (error) {
      // The list may be what is out of date.
      announceChange({});
      notifyProblem(`Nothing was restored. ${describeRefusal(error)}`, { projectId, path: "" });
    } finally {
      setBusy(false);
    }
  };
  return (
    <SelectionBar selection={selection}>
      <button type="button" disabled={isBusy} onClick={restore}>
        <Icon name="restore" />Restore
      </button>
    </SelectionBar>
  );
}
