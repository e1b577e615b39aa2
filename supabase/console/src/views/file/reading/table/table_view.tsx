/** A table of any length: only the rows in view are drawn. Cells are shown as plain text, whatever they contain. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Empty, Loading } from "../../../../components/states.tsx";
import { formatCount, formatNumber, visible } from "../../../../format.ts";
import {
  DATA_ROWS_MAX,
  TABLE_COLUMN_CHARACTERS_MAX,
  TABLE_COLUMN_CHARACTERS_MIN,
  TABLE_ROWS_MEASURED,
  VALUE_CHARACTERS_SHOWN,
} from "../../../../limits.ts";
import type { FormProperties } from "../form.ts";
import { useVirtualRows } from "../virtual_rows.ts";
import { Dialog } from "../../../../components/dialog.tsx";
import type { TableBatch, TableRequest } from "./rows.ts";

/** Must equal the height in the style sheet. */
const ROW_PIXELS = 29;

export function TableView({ place, form, text, row, onProblem }: FormProperties) {
  const request = { text, form: form === "tsv" || form === "jsonl" ? form : "csv" } as const;
  const table = useTable(request, () => onProblem("The table cannot be read; this is its source."));
  if (table === undefined) return <Loading what="the table" />;
  if (table.columns.length === 0) return <Empty icon="file" title="There are no rows." />;
  return (
    <>
      <Grid {...{ table, row }} path={place.path} />
      <p class="facts" role="status">
        <span>{table.isLast ? formatCount(table.rows.length, "row") : "Reading the rows …"}</span>
        <span>{formatCount(table.columnCount, "column")}</span>
        {table.columnCount > table.columns.length && (
          <span>the first {formatNumber(table.columns.length)} are shown</span>
        )}
        {table.badRows > 0 && <span>{describeBad(form, table.badRows)}</span>}
        {table.isCut && <span>only the first {formatNumber(DATA_ROWS_MAX)} rows are shown</span>}
      </p>
    </>
  );
}

function describeBad(form: string, count: number): string {
  return form === "jsonl"
    ? `${formatCount(count, "line")} ${count === 1 ? "is" : "are"} not JSON`
    : `${formatCount(count, "row")} ${count === 1 ? "has" : "have"} another number of cells`;
}

interface GridProperties extends Pick<FormProperties, "row"> {
  readonly table: Table;
  readonly path: string;
}

function Grid({ table, path, row: asked }: GridProperties) {
  const { columns, rows } = table;
  const scroller = useRef<HTMLDivElement>(null);
  const { first, end, above, below, onScroll, reveal } = useVirtualRows(
    scroller,
    rows.length,
    ROW_PIXELS,
    ROW_PIXELS,
  );
  const [opened, setOpened] = useState<number | null>(null);
  const widths = useMemo(() => columnWidths(columns, rows), [columns.length, rows.length > 0]);
  useEffect(() => {
    if (asked !== undefined) reveal(Math.min(asked.number, rows.length) - 1, "start");
  }, [asked]);
  const marked = asked === undefined ? null : Math.min(asked.number, rows.length) - 1;
  return (
    <>
      <div
        class="data-table"
        ref={scroller}
        role="region"
        aria-label={`Content of ${visible(path)}`}
        tabIndex={0}
        onScroll={onScroll}
      >
        <table
          aria-label={`Rows of ${visible(path)}`}
          aria-rowcount={rows.length + 1}
          aria-colcount={columns.length + 1}
        >
          <colgroup>
            <col style={{ width: `${String(rows.length).length + 4}ch` }} />
            {widths.map((width, index) => <col key={index} style={{ width: `${width + 3}ch` }} />)}
          </colgroup>
          <thead>
            <tr aria-rowindex={1}>
              <th scope="col">
                <span class="visually-hidden">Row</span>
              </th>
              {columns.map((name, index) => <th key={index} scope="col" title={name}>{shortened(name)}</th>)}
            </tr>
          </thead>
          <tbody>
            {above > 0 && <Room pixels={above} columns={columns.length} />}
            {rows.slice(first, end).map((cells, index) => {
              const number = first + index;
              return (
                <tr key={number} aria-rowindex={number + 2} class={number === marked ? "marked" : undefined}>
                  <th scope="row">
                    <button
                      type="button"
                      aria-label={`Show row ${number + 1}`}
                      onClick={() =>
                        setOpened(number)}
                    >
                      {number + 1}
                    </button>
                  </th>
                  {columns.map((_, column) => <td key={column}>{shortened(cells[column] ?? "")}</td>)}
                </tr>
              );
            })}
            {below > 0 && <Room pixels={below} columns={columns.length} />}
          </tbody>
        </table>
      </div>
      {opened !== null && (
        <RowDialog
          number={opened + 1}
          columns={columns}
          cells={rows[opened] ?? []}
          onClose={() => setOpened(null)}
        />
      )}
    </>
  );
}

/** Takes the place of rows that are not drawn. */
function Room({ pixels, columns }: { readonly pixels: number; readonly columns: number }) {
  return (
    <tr aria-hidden="true">
      <td colSpan={columns + 1} class="room" style={{ height: `${pixels}px` }} />
    </tr>
  );
}

function shortened(text: string): string {
  return text.length > VALUE_CHARACTERS_SHOWN ? `${text.slice(0, VALUE_CHARACTERS_SHOWN)} …` : text;
}

function columnWidths(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): readonly number[] {
  return columns.map((name, column) => {
    let width = Math.max(name.length, TABLE_COLUMN_CHARACTERS_MIN);
    for (const row of rows.slice(0, TABLE_ROWS_MEASURED)) width = Math.max(width, row[column]?.length ?? 0);
    return Math.min(width, TABLE_COLUMN_CHARACTERS_MAX);
  });
}

interface Properties {
  /** The row's number, from 1. */
  readonly number: number;
  readonly columns: readonly string[];
  readonly cells: readonly string[];
  readonly onClose: () => void;
}

/** Shows one row with the full text of its cells. */
function RowDialog({ number, columns, cells, onClose }: Properties) {
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

export interface Table extends Pick<TableBatch, "columns" | "columnCount" | "isLast" | "isCut"> {
  readonly rows: readonly (readonly string[])[];
  readonly badRows: number;
}

/** Returns undefined until the first rows have arrived. */
function useTable(request: TableRequest, onProblem: () => void): Table | undefined {
  const [table, setTable] = useState<Table | undefined>();
  const latest = useRef(onProblem);
  latest.current = onProblem;
  const { text, form } = request;
  useEffect(() => {
    // One array that grows, because copying it for each batch would cost more with each.
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
