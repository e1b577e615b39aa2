/** Reports each measured value, its baseline, and whether its bar holds: as a table to read and as JSON to store. */
import { printLine } from "../../supabase/local/cli/command_line.ts";
import { median, quantile, type Times } from "./measure.ts";

/** The limit that a row must keep. */
export interface Bar {
  /** Whether it limits the ratio to the baseline, or the measured value itself. */
  readonly of: "ratio" | "value";
  readonly at: "most" | "least";
  readonly value: number;
}

export interface Row {
  readonly group: string;
  readonly what: string;
  readonly unit: string;
  readonly value: number;
  /** The baseline; null if the bar limits the value itself. */
  readonly baseline: { readonly what: string; readonly value: number } | null;
  /** Value divided by baseline; with `isSpeedup` baseline divided by value, which tells how many times faster it is. */
  readonly ratio: number | null;
  /** Quartiles of the ratios of single rounds, if both were timed in the same rounds. */
  readonly spread: readonly [low: number, high: number] | null;
  /** Null: reported only. */
  readonly bar: Bar | null;
  readonly holds: boolean | null;
}

export const atMost = (value: number, of: Bar["of"] = "ratio"): Bar => ({ of, at: "most", value });
export const atLeast = (value: number, of: Bar["of"] = "ratio"): Bar => ({ of, at: "least", value });

export class Report {
  readonly rows: Row[] = [];
  #group = "";

  /** Begins a group of rows. */
  group(name: string): void {
    this.#group = name;
    printLine(`\n${name}`);
  }

  /** Adds a line of explanation below the rows. */
  remark(text: string): void {
    printLine(`    ${text}`);
  }

  /** Adds below a row the middle half of its times and the slowest, in milliseconds, and the machine's load. */
  spread(times: Times): void {
    const [low, high, slowest] = [0.25, 0.75, 1].map((share) => rounded(quantile(times, share)));
    const load = Deno.loadavg()[0]?.toFixed(1);
    this.remark(`  quartiles ${low} and ${high} ms, slowest ${slowest} ms of ${times.length}; load ${load}`);
  }

  /** Adds two medians in milliseconds, their ratio, and its variation between rounds. */
  times(what: string, times: Times, baselineWhat: string, baseline: Times, bar: Bar | null): void {
    const [value, other] = [median(times), median(baseline)];
    const against = { what: baselineWhat, value: other };
    const spread = times.length === baseline.length ? ratioSpread(times, baseline) : null;
    this.#add({ what, value, unit: "ms", baseline: against, ratio: value / other, spread, bar });
  }

  /**
   * Adds a value and its baseline in the same unit. With `isSpeedup` the ratio tells how many times smaller the value
   * is.
   */
  against(
    what: string,
    value: number,
    unit: string,
    baselineWhat: string,
    baseline: number,
    bar: Bar | null,
    isSpeedup = false,
  ): void {
    const ratio = isSpeedup ? baseline / value : value / baseline;
    const against = { what: baselineWhat, value: baseline };
    this.#add({ what, value, unit, baseline: against, ratio, spread: null, bar });
  }

  /** Adds a value without a baseline. */
  value(what: string, value: number, unit: string, bar: Bar | null): void {
    this.#add({ what, value, unit, baseline: null, ratio: null, spread: null, bar });
  }

  #add(row: Omit<Row, "group" | "holds">): void {
    const full: Row = { group: this.#group, ...row, holds: holds(row) };
    this.rows.push(full);
    printLine(line(full));
  }

  /** Prints the number of bars that hold, and the bars that do not. */
  summary(): void {
    const barred = this.rows.filter((row) => row.holds !== null);
    const missed = barred.filter((row) => !row.holds);
    printLine(`\n${barred.length - missed.length} of ${barred.length} bars hold.`);
    for (const row of missed) {
      printLine(`  missed: ${row.group}: ${row.what} (${figure(row)}, bar ${barText(row)})`);
    }
  }
}

/** Quartiles, so that a few slow rounds do not hide that the others are alike. */
function ratioSpread(times: Times, baseline: Times): [number, number] {
  const ratios = times.map((time, round) => time / (baseline[round] ?? NaN));
  return [quantile(ratios, 0.25), quantile(ratios, 0.75)];
}

function holds({ value, ratio, bar }: Omit<Row, "group" | "holds">): boolean | null {
  if (bar === null) return null;
  const measured = bar.of === "ratio" ? ratio ?? NaN : value;
  return bar.at === "most" ? measured <= bar.value : measured >= bar.value;
}

function line(row: Row): string {
  const { value, unit, baseline } = row;
  const columns = [
    row.what.padEnd(58),
    baseline ? `${rounded(baseline.value)} ${unit}`.padStart(14) : "".padStart(14),
    `${rounded(value)} ${unit}`.padStart(14),
    row.ratio === null ? "".padStart(9) : `${row.ratio.toFixed(2)} ×`.padStart(9),
    row.spread === null
      ? "".padStart(14)
      : ` (${row.spread.map((at) => at.toFixed(2)).join(" to ")})`.padStart(15),
    baseline && unit === "ms" ? `${signed(value - baseline.value)} ms`.padStart(11) : "".padStart(11),
    barText(row).padStart(12),
    row.holds === null ? "" : row.holds ? "  holds" : "  MISSED",
  ];
  return `  ${columns.join("")}${baseline ? `\n      against ${baseline.what}` : ""}`;
}

function figure(row: Row): string {
  return row.ratio === null ? `${rounded(row.value)} ${row.unit}` : `${row.ratio.toFixed(2)} ×`;
}

function barText({ bar, unit }: Row): string {
  if (bar === null) return "";
  return `${bar.at === "most" ? "≤" : "≥"} ${bar.value} ${bar.of === "ratio" ? "×" : unit}`;
}

function signed(value: number): string {
  return (value < 0 ? "" : "+") + rounded(value);
}

function rounded(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : 2);
}
