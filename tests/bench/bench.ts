/** The parameters of every group of benchmarks. */
import type { BenchStack } from "./bench_stack.ts";
import type { Report } from "./report.ts";

export interface Bench {
  readonly stack: BenchStack;
  /** Repetitions of a small request; larger work is repeated less often. */
  readonly rounds: number;
  readonly report: Report;
}

/** Measures one group of rows and reports them. */
export type Group = (bench: Bench) => Promise<void>;

/** Fewer rounds for work that takes longer, at least 3. */
export function fewer(rounds: number, divisor: number): number {
  return Math.max(3, Math.round(rounds / divisor));
}

let isBrief = false;

/** From now on every group runs at a hundredth of its size, which only shows that it works. */
export function makeBrief(): void {
  isBrief = true;
}

/** A number of files, requests or milliseconds; in a brief run a hundredth of it. */
export function sized(number: number): number {
  return isBrief ? Math.ceil(number / 100) : number;
}
