/** The rows of a CSV, TSV or JSONL text, in batches. */
// @ts-types="@types/papaparse"
import Papa from "papaparse";
import { DATA_ROWS_MAX, TABLE_COLUMNS_MAX, TABLE_ROWS_PER_BATCH } from "../../../../limits.ts";
import { rootSpan, spansIn, textOf } from "../json_spans.ts";

export interface TableRequest {
  readonly text: string;
  readonly form: "csv" | "tsv" | "jsonl";
}

/** The next rows. Cells are in the order of `columns`, to which later batches may add. */
export interface TableBatch {
  /** At most `TABLE_COLUMNS_MAX`. */
  readonly columns: readonly string[];
  readonly columnCount: number;
  readonly rows: readonly (readonly string[])[];
  /** Rows of these that could not be read as the format wants it, and show what is there. */
  readonly badRows: number;
  readonly isLast: boolean;
  /** Whether there are more rows than `DATA_ROWS_MAX`, which are left out. */
  readonly isCut: boolean;
}

export function readTable({ text, form }: TableRequest, onBatch: (batch: TableBatch) => void): void {
  const whole = text.replace(/^\uFEFF/, "");
  if (form === "jsonl") readJsonLines(whole, onBatch);
  else readDelimited(whole, form === "tsv" ? "\t" : "", onBatch);
}

/** The first row names the columns. */
function readDelimited(text: string, delimiter: string, onBatch: (batch: TableBatch) => void): void {
  let columns: string[] | null = null;
  let headCount = 0;
  let columnCount = 0;
  let count = 0;
  let isCut = false;
  let badRows = 0;
  let rows: (readonly string[])[] = [];
  const flush = (isLast: boolean) => {
    onBatch({ columns: columns ?? [], columnCount, rows, badRows, isLast, isCut });
    rows = [];
    badRows = 0;
  };
  Papa.parse<string[]>(text, {
    delimiter,
    skipEmptyLines: true,
    step: ({ data: row }, parser) => {
      if (columns === null) {
        columns = row.slice(0, TABLE_COLUMNS_MAX);
        headCount = columnCount = row.length;
        return;
      }
      if (count >= DATA_ROWS_MAX) {
        isCut = true;
        return parser.abort();
      }
      if (row.length !== headCount) badRows++;
      // A row may be longer than the head.
      while (columns.length < Math.min(row.length, TABLE_COLUMNS_MAX)) columns.push("");
      columnCount = Math.max(columnCount, row.length);
      rows.push(row.slice(0, TABLE_COLUMNS_MAX));
      count++;
      if (rows.length >= TABLE_ROWS_PER_BATCH) flush(false);
    },
  });
  flush(true);
}

/** The columns are the keys of all objects, in the order in which they come; other values have a column of their own. */
function readJsonLines(text: string, onBatch: (batch: TableBatch) => void): void {
  const columns = new Map<string, number>();
  let rows: (readonly string[])[] = [];
  let badRows = 0;
  let count = 0;
  let isCut = false;
  const flush = (isLast: boolean) => {
    const names = [...columns.keys()].slice(0, TABLE_COLUMNS_MAX);
    onBatch({ columns: names, columnCount: columns.size, rows, badRows, isLast, isCut });
    rows = [];
    badRows = 0;
  };
  const put = (row: string[], name: string, value: string) => {
    const column = columns.get(name) ?? columns.size;
    columns.set(name, column);
    if (column < TABLE_COLUMNS_MAX) row[column] = value;
  };
  for (const line of linesOf(text)) {
    if (line.trim() === "") continue;
    if (count++ >= DATA_ROWS_MAX) {
      isCut = true;
      break;
    }
    const row: string[] = [];
    const isBad = !isJson(line);
    if (isBad) badRows++;
    const { start, end } = rootSpan(line);
    if (!isBad && line[start] === "{") {
      for (const span of spansIn(line, start, Infinity)) {
        put(row, textOf(line, span.keyStart, span.keyEnd), textOf(line, span.start, span.end));
      }
    } else put(row, "value", isBad ? line : textOf(line, start, end));
    // No holes: they would be lost on the way.
    rows.push(Array.from(row, (cell) => cell ?? ""));
    if (rows.length >= TABLE_ROWS_PER_BATCH) flush(false);
  }
  flush(true);
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
