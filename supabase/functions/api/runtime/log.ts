/** One JSON line per request, and one per fault. No line ever contains a key, a hash, content or a query. */

export interface RequestLine {
  readonly id: string;
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly code?: string | undefined;
  readonly durationMilliseconds: number;
  /** Total duration of its back-end calls; concurrent calls are added up. */
  readonly backendMilliseconds: number;
  readonly projectId?: string | undefined;
  readonly keyId?: string | undefined;
}

function write(line: Record<string, unknown>): void {
  // deno-lint-ignore no-console -- the platform collects logs from standard output
  console.log(JSON.stringify({ time: new Date().toISOString(), ...line }));
}

/** Never the message of an error, which may contain data. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

export type Log = typeof consoleLog;

export const consoleLog = {
  request(line: RequestLine): void {
    write({ level: "info", event: "request", ...line });
  },
  /** A back-end call failed and may be retried. `reason` is the back end's code, never its text. */
  backendFault(call: string, tryNumber: number, reason: string): void {
    write({ level: "warn", event: "backend_fault", call, try: tryNumber, reason });
  },
  /** A fault that only the operator can mend, and how. */
  actionRequired(problem: string, action: string): void {
    write({ level: "error", event: "action_required", problem, action });
  },
  /** A segment's bytes in Storage differ from those that were uploaded. */
  corruptSegment(segmentId: string, reason: string): void {
    write({ level: "error", event: "corrupt_segment", segmentId, reason });
  },
  /** Background work failed; a later run repeats it. */
  backgroundFault(work: string, error: unknown): void {
    write({ level: "warn", event: "background_fault", work, error: nameOf(error) });
  },
  /** A defect. Only the locations of its stack are logged: the first line of a stack repeats the message. */
  defect(id: string, error: unknown): void {
    const stack = error instanceof Error
      ? error.stack?.split("\n").filter((line) => /^\s+at /.test(line))
      : undefined;
    write({ level: "error", event: "defect", id, error: nameOf(error), stack });
  },
};
