/** Widths of columns, in characters, by the first rows: they stay while rows come and go. */
import {
  TABLE_COLUMN_CHARACTERS_MAX,
  TABLE_COLUMN_CHARACTERS_MIN,
  TABLE_ROWS_MEASURED,
} from "../../../../limits.ts";

export function columnWidths(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): readonly number[] {
  return columns.map((name, column) => {
    let width = Math.max(name.length, TABLE_COLUMN_CHARACTERS_MIN);
    for (const row of rows.slice(0, TABLE_ROWS_MEASURED)) width = Math.max(width, row[column]?.length ?? 0);
    return Math.min(width, TABLE_COLUMN_CHARACTERS_MAX);
  });
}
