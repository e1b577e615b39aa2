/** The rows of a CSV, TSV or JSONL text, in batches. */
// @ts-types="@types/papaparse"
import Papa from "papaparse";
import { DATA_ROWS_MAX, TABLE_COLUMNS_MAX, TABLE_ROWS_PER_BATCH } from "../../../../limits.ts";
import { rootSpan, spansIn, textOf } from "../json_spans.ts";

export interface TableRequest {
  readonly text: string;
  readonly form: "csv" | "tsv" | "jsonl";
}

/** The next rows. Cells are in the order of `columns`; later batches may add columns. */
export interface TableBatch {
  /** At most `TABLE_COLUMNS_MAX`. */
  readonly columns: readonly string[];
  readonly columnCount: number;
  readonly rows: readonly (readonly string[])[];
  /** Number of these rows that are invalid in their format; they show what could be read. */
  readonly badRows: number;
  readonly isLast: boolean;
  /** Whether rows beyond `DATA_ROWS_MAX` were left out. */
  readonly isCut: boolean;
}

export function readTable({ text, form }: TableRequest, onBatch: (batch: TableBatch) => void): void {
  const whole = text.replace(/^\uFEFF/, "");
  if (form === "jsonl") readJsonLines(whole, onBatch);
  else readDelimited(whole, form === "tsv" ? "\t" : "", onBatch);
}

/** Collects rows for a batch. */
class Rows {
  #rows: (readonly string[])[] = [];
  #badRows = 0;
  #count = 0;
  #isCut = false;

  constructor(
    readonly onBatch: (batch: TableBatch) => void,
    readonly columns: () => Pick<TableBatch, "columns" | "columnCount">,
  ) {}

  /** Returns whether the table has its largest number of rows. */
  isFull(): boolean {
    return this.#isCut = this.#count >= DATA_ROWS_MAX;
  }

  add(row: readonly string[], isBad: boolean): void {
    this.#rows.push(row);
    this.#count++;
    if (isBad) this.#badRows++;
    if (this.#rows.length >= TABLE_ROWS_PER_BATCH) this.flush(false);
  }

  flush(isLast: boolean): void {
    const [rows, badRows, isCut] = [this.#rows, this.#badRows, this.#isCut];
    this.onBatch({ ...this.columns(), rows, badRows, isLast, isCut });
    this.#rows = [];
    this.#badRows = 0;
  }
}

/** The first row names the columns. */
function readDelimited(text: string, delimiter: string, onBatch: (batch: TableBatch) => void): void {
  let columns: string[] | null = null;
  let headCount = 0;
  let columnCount = 0;
  const rows = new Rows(onBatch, () => ({ columns: columns ?? [], columnCount }));
  Papa.parse<string[]>(text, {
    delimiter,
    skipEmptyLines: true,
    step: ({ data: row }, parser) => {
      if (columns === null) {
        columns = row.slice(0, TABLE_COLUMNS_MAX);
        headCount = columnCount = row.length;
        return;
      }
      if (rows.isFull()) return parser.abort();
      // A row may be longer than the first row.
      while (columns.length < Math.min(row.length, TABLE_COLUMNS_MAX)) columns.push("");
      columnCount = Math.max(columnCount, row.length);
      rows.add(row.slice(0, TABLE_COLUMNS_MAX), row.length !== headCount);
    },
  });
  rows.flush(true);
}

/** The columns are the keys of all objects in order of appearance; other values have a column of their own. */
function readJsonLines(text: string, onBatch: (batch: TableBatch) => void): void {
  const columns = new Map<string, number>();
  const rows = new Rows(onBatch, () => ({
    columns: [...columns.keys()].slice(0, TABLE_COLUMNS_MAX),
    columnCount: columns.size,
  }));
  const put = (row: string[], name: string, value: string) => {
    const column = columns.get(name) ?? columns.size;
    columns.set(name, column);
    if (column < TABLE_COLUMNS_MAX) row[column] = value;
  };
  for (const line of linesOf(text)) {
    if (line.trim() === "") continue;
    if (rows.isFull()) break;
    const row: string[] = [];
    const isBad = !isJson(line);
    const { start, end } = rootSpan(line);
    if (!isBad && line[start] === "{") {
      for (const span of spansIn(line, start, Infinity)) {
        put(row, textOf(line, span.keyStart, span.keyEnd), textOf(line, span.start, span.end));
      }
    } else put(row, "value", isBad ? line : textOf(line, start, end));
    // Fills holes of the array, which a message from the worker would lose.
    rows.add(Array.from(row, (cell) => cell ?? ""), isBad);
  }
  rows.flush(true);
}

function* linesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length;) {
    const feed = text.indexOf("\n", from);
    const end = feed < 0 ? text.length : feed;
    yield text.slice(from, end);
    from = end + 1;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
