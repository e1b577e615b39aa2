/** One JSON line a request, and one for each fault. No key, hash, content or query ever goes into a line. */

/** What is known about a request when it ends. */
export interface RequestLine {
  readonly id: string;
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly code?: string | undefined;
  readonly durationMilliseconds: number;
  /** Time that its calls to the back end took, added up: calls at the same time count each. */
  readonly backendMilliseconds: number;
  readonly projectId?: string | undefined;
  readonly keyId?: string | undefined;
}

export interface Log {
  request(line: RequestLine): void;
  /** A call to the back end that failed and may be tried again. `reason` is the back end's code, never its text. */
  backendFault(call: string, tryNumber: number, reason: string): void;
  /** A stored segment that is not what was stored. */
  corruptSegment(segmentId: string, reason: string): void;
  /** Work after an answer that failed; it will be done again. */
  backgroundFault(work: string, error: unknown): void;
  /** A defect. The stack names places in this code only. */
  defect(requestId: string, error: unknown): void;
}

function write(line: Record<string, unknown>): void {
  // deno-lint-ignore no-console -- standard output is where the platform collects logs
  console.log(JSON.stringify({ time: new Date().toISOString(), ...line }));
}

export const consoleLog: Log = {
  request: (line) => write({ level: "info", event: "request", ...line }),
  backendFault: (call, tryNumber, reason) =>
    write({ level: "warn", event: "backend_fault", call, try: tryNumber, reason }),
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
      // The first line of a stack repeats the message, which may hold data; the places do not.
      stack: error instanceof Error
        ? error.stack?.split("\n").filter((line) => /^\s+at /.test(line))
        : undefined,
    }),
};
