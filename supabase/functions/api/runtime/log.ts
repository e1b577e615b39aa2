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

export interface Log {
  request(line: RequestLine): void;
  /** A back-end call failed and may be retried. `reason` is the back end's code, never its text. */
  backendFault(call: string, tryNumber: number, reason: string): void;
  /** A fault that only the operator can mend, and how. */
  actionRequired(problem: string, action: string): void;
  /** A segment's bytes in Storage differ from those that were uploaded. */
  corruptSegment(segmentId: string, reason: string): void;
  /** Background work failed; a later run repeats it. */
  backgroundFault(work: string, error: unknown): void;
  /** A defect. Only the locations of its stack are logged. */
  defect(requestId: string, error: unknown): void;
}

function write(line: Record<string, unknown>): void {
  // deno-lint-ignore no-console -- the platform collects logs from standard output
  console.log(JSON.stringify({ time: new Date().toISOString(), ...line }));
}

export const consoleLog: Log = {
  request: (line) => write({ level: "info", event: "request", ...line }),
  backendFault: (call, tryNumber, reason) =>
    write({ level: "warn", event: "backend_fault", call, try: tryNumber, reason }),
  actionRequired: (problem, action) => write({ level: "error", event: "action_required", problem, action }),
  corruptSegment: (segmentId, reason) =>
    write({ level: "error", event: "corrupt_segment", segmentId, reason }),
  backgroundFault: (work, error) =>
    write({
      level: "warn",
      event: "background_fault",
      work,
      error: error instanceof Error ? error.name : typeof error,
    }),
  defect: (requestId, error) =>
    write({
      level: "error",
      event: "defect",
      id: requestId,
      error: error instanceof Error ? error.name : typeof error,
      // The first line of a stack repeats the message, which may contain data; the locations do not.
      stack: error instanceof Error
        ? error.stack?.split("\n").filter((line) => /^\s+at /.test(line))
        : undefined,
    }),
};
