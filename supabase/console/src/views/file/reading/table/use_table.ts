/** The rows of a text as they come from the worker. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { TableBatch, TableRequest } from "./rows.ts";

export interface Table extends Pick<TableBatch, "columns" | "columnCount" | "isLast" | "isCut"> {
  readonly rows: readonly (readonly string[])[];
  readonly badRows: number;
}

/** Undefined until the first rows are there. */
export function useTable(request: TableRequest, onProblem: () => void): Table | undefined {
  const [table, setTable] = useState<Table | undefined>();
  const latest = useRef(onProblem);
  latest.current = onProblem;
  const { text, form } = request;
  useEffect(() => {
    // One array that grows: copying it for each batch would cost more with each.
    const rows: (readonly string[])[] = [];
    let badRows = 0;
    const worker = new Worker(new URL("./table_worker.ts", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<TableBatch>) => {
      for (const row of data.rows) rows.push(row);
      badRows += data.badRows;
      const { columns, columnCount, isLast, isCut } = data;
      setTable({ columns, columnCount, isLast, isCut, rows, badRows });
      if (isLast) worker.terminate();
    });
    worker.addEventListener("error", () => latest.current());
    worker.postMessage({ text, form });
    return () => worker.terminate();
  }, [text, form]);
  return table;
}
