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
