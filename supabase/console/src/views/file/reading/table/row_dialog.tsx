import { Dialog } from "../../../../components/dialog.tsx";
import { formatNumber } from "../../../../format.ts";

interface Properties {
  /** From 1. */
  readonly number: number;
  readonly columns: readonly string[];
  readonly cells: readonly string[];
  readonly onClose: () => void;
}

/** One row with all of what is in its cells. */
export function RowDialog({ number, columns, cells, onClose }: Properties) {
  return (
    <Dialog title={`Row ${formatNumber(number)}`} onClose={onClose} isWide>
      <dl class="row-cells">
        {columns.map((name, index) => (
          <div key={index}>
            <dt>{name === "" ? `Column ${index + 1}` : name}</dt>
            <dd>{cells[index] ?? ""}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
