import { useEffect } from "preact/hooks";
import { formatCount, visible } from "../format.ts";
import { Icon, IconButton } from "../components/icon.tsx";
import { TRANSFERS_SHOWN_MILLISECONDS } from "../limits.ts";
import { cancel, clearTransfers, type Transfer, transfers } from "../state/transfers.ts";

export function TransferPanel() {
  const all = transfers.value;
  const open = all.filter(isOpen).length;
  const isFinished = all.length > 0 && all.every(({ state }) => state === "done" || state === "cancelled");
  useEffect(() => {
    // Failed transfers stay until they are cleared.
    if (!isFinished) return;
    const timer = setTimeout(clearTransfers, TRANSFERS_SHOWN_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [isFinished]);
  return (
    <section class={all.length === 0 ? "transfers visually-hidden" : "transfers"} aria-label="Transfers">
      <div class="transfers-head">
        <p role="status">{all.length === 0 ? "" : summary(all, open)}</p>
        {all.length > 0 && open === 0 && (
          <IconButton icon="close" label="Clear transfers" onClick={clearTransfers} />
        )}
      </div>
      {all.length > 0 && (
        <ul tabIndex={0} aria-label="Transfers">
          {all.toReversed().map((transfer) => <Row key={transfer.id} transfer={transfer} />)}
        </ul>
      )}
    </section>
  );
}

function Row({ transfer }: { readonly transfer: Transfer }) {
  const { id, direction, path, state, progress, problem } = transfer;
  return (
    <li class={`transfer ${state}`}>
      <Icon name={direction} />
      <div class="transfer-body">
        <span class="transfer-path" title={visible(path)}>{visible(path)}</span>
        {state === "running"
          ? <progress aria-label={`Progress of ${visible(path)}`} value={progress} max={1} />
          : <span class="transfer-state">{problem ?? state}</span>}
      </div>
      {isOpen(transfer) && (
        <IconButton
          icon="close"
          label={`Cancel ${visible(path)}`}
          onClick={() => cancel(id)}
        />
      )}
    </li>
  );
}

function isOpen({ state }: Transfer): boolean {
  return state === "waiting" || state === "running";
}

function summary(all: readonly Transfer[], open: number): string {
  if (open > 0) return `${formatCount(open, "transfer")} remaining`;
  const failed = all.filter(({ state }) => state === "failed").length;
  const done = all.filter(({ state }) => state === "done").length;
  return failed > 0
    ? `${formatCount(done, "file")} done, ${failed} failed`
    : `${formatCount(done, "file")} done`;
}
