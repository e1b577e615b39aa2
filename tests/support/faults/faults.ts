/** The ways in which a call of the function to Supabase can fail, and how a test injects them. */
import { isRecorded, recordedAnswer, type RecordedName } from "./recorded_answers.ts";

/** Faults of a call. `acts`: the back end has done what the call asked for. */
export const FAULTS = {
  /** Reset after the whole call was sent, before the back end saw it. */
  resetBefore: { acts: false },
  error500: { acts: false },
  error503: { acts: false },
  /** A gateway's own page, which is not JSON. */
  page502: { acts: false },
  /** Reset after the back end acted: its answer is lost. */
  resetAfter: { acts: true },
  error500After: { acts: true },
  /** The answer breaks off half way. */
  truncated: { acts: true },
  /** No answer at all, before or after the back end acted. */
  hang: { acts: false },
  hangAfter: { acts: true },
} as const satisfies Record<string, { readonly acts: boolean }>;

export type Fault = keyof typeof FAULTS | RecordedName;

/** Whether the back end acts before its answer is broken with this fault. */
export function actsBefore(fault: Fault): boolean {
  return isRecorded(fault) ? recordedAnswer(fault).acts : FAULTS[fault].acts;
}

/** A call that matched a watch. */
export interface SeenCall {
  readonly name: string;
  /** Path and query, which distinguish the objects of storage. */
  readonly url: string;
  /** Milliseconds, on the clock of the process under test. */
  readonly at: number;
  readonly fault: Fault | null;
}

/** Watches the calls of one project. */
export interface Watch {
  /** The fault for the n-th call, counted from 1. */
  readonly decide: (n: number, name: string) => Fault | null;
  /** Runs after the back end has acted on a call whose answer is then broken. */
  readonly afterActing?: (() => Promise<void>) | undefined;
  readonly calls: SeenCall[];
}

/** Makes the call with `forward`, or breaks it as the watch decides. `onSilence` waits for an answer that never comes. */
export async function watched(
  { decide, afterActing, calls }: Watch,
  { method, url, at }: { readonly method: string; readonly url: string; readonly at: number },
  forward: () => Promise<Response>,
  onSilence = () => {},
): Promise<Response> {
  const name = callName(method, url);
  const fault = decide(calls.length + 1, name);
  calls.push({ name, url, at, fault });
  if (fault === null) return await forward();
  const answer = actsBefore(fault) ? await forward() : null;
  if (answer !== null) await afterActing?.();
  if (fault === "hang" || fault === "hangAfter") onSilence();
  return await broken(fault, answer);
}

/** `filestore_commit`, `upload`, `download`, `remove`. */
function callName(method: string, url: string): string {
  const [, rpc] = /\/rpc\/([a-z_]+)/.exec(url) ?? [];
  if (rpc !== undefined) return rpc;
  if (url.includes("/object/list/")) return "list";
  return { GET: "download", DELETE: "remove" }[method] ?? "upload";
}

/** The caller's view of a call with this fault; `answer` is the back end's, if it acted. */
async function broken(fault: Fault, answer: Response | null): Promise<Response> {
  if (isRecorded(fault)) {
    const { status, type, body } = recordedAnswer(fault);
    return new Response(body, { status, headers: { "content-type": type } });
  }
  switch (fault) {
    case "resetBefore":
    case "resetAfter":
      throw new TypeError("error sending request");
    case "error500":
    case "error500After":
      return Response.json({ message: "an internal matter", statusCode: "500" }, { status: 500 });
    case "error503":
      return Response.json({ message: "overloaded", statusCode: "503" }, { status: 503 });
    case "page502":
      return new Response("<html><body><h1>502 Bad Gateway</h1></body></html>", { status: 502 });
    case "truncated": {
      const whole = new Uint8Array(await answer?.arrayBuffer() ?? new ArrayBuffer(0));
      const half = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(whole.subarray(0, whole.length / 2)),
        pull: (controller) => controller.error(new TypeError("error reading a body from connection")),
      });
      return new Response(half, { status: answer?.status ?? 200, headers: answer?.headers ?? [] });
    }
    case "hang":
    case "hangAfter":
      return await new Promise<never>(() => {});
  }
}
