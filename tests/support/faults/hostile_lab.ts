/** The function under hostile requests, on its own port and behind the gateway. */
import { assert, assertEquals } from "@std/assert";
import { BODY_BUDGET_WAIT_MILLISECONDS } from "../../../supabase/functions/api/limits.ts";
import type { FunctionProcess } from "../../../supabase/local/stack/function_process.ts";
import { Laboratory, type Tenant } from "./laboratory.ts";
import type { RawAnswer, RawOutcome, RawRequest } from "../client/raw_connection.ts";
import { commandOf, startFunction } from "../stack/test_stack.ts";

/**
 * Longest wait for an answer or the end of a connection: the longest that a request waits for memory, plus a minute for
 * a busy machine.
 */
export const ANSWER_MILLISECONDS = BODY_BUDGET_WAIT_MILLISECONDS + 60_000;

export interface Front {
  readonly name: string;
  readonly origin: string;
  /** The prefix of the function's paths there. */
  readonly prefix: string;
}

export class HostileLab {
  private constructor(
    readonly lab: Laboratory,
    readonly tenant: Tenant,
    private readonly bare: FunctionProcess,
    private readonly bareLog: readonly string[],
    private readonly pids: readonly (number | null)[],
  ) {}

  static async start(): Promise<HostileLab> {
    const lab = await Laboratory.start();
    const tenant = await lab.tenant();
    const log: string[] = [];
    const bare = await startFunction(await commandOf(lab, lab.stack.backendUrl), (line) => log.push(line));
    return new HostileLab(lab, tenant, bare, log, [bare.pid, ...lab.stack.functionPids]);
  }

  async stop(): Promise<void> {
    await this.bare.stop();
    await this.lab.stop();
  }

  get functionFront(): Front {
    return { name: "the function", origin: `http://127.0.0.1:${this.bare.upstream?.port}`, prefix: "/api" };
  }

  get gatewayFront(): Front {
    return { name: "the gateway", origin: this.lab.stack.supabaseUrl, prefix: "/functions/v1/api" };
  }

  get fronts(): readonly Front[] {
    return [this.functionFront, this.gatewayFront];
  }

  /** Asserts that the processes are those that were started, that no defect was logged, and that they still answer. */
  async assertUnharmed(): Promise<void> {
    assertEquals([this.bare.pid, ...this.lab.stack.functionPids], this.pids);
    const defects = [...this.bareLog, ...this.lab.log].filter((line) =>
      /"defect"|panicked|Uncaught|process ended/.test(line)
    );
    assertEquals(defects, []);
    const health = await fetch(`${this.lab.stack.baseUrl}/health`);
    assertEquals((await health.json()).status, "ok");
  }
}

/** An answer of the service has the envelope; one of the HTTP server in front of it may lack it. */
export function assertAnswer({ status, headers, text }: RawAnswer, method: string): void {
  assert(status >= 200 && status < 600 && status !== 500, `${status} ${text.slice(0, 300)}`);
  if (!headers.has("x-request-id")) {
    // The request was too malformed to reach the service.
    assert(status >= 400 && status < 600, `${status} without an id`);
    return;
  }
  if (method === "HEAD" || status === 204 || status === 304) return;
  if (headers.get("content-type")?.startsWith("application/json")) {
    const body = JSON.parse(text);
    if (status >= 400 && body.status === undefined) {
      assertEquals([body.success, typeof body.error.code, typeof body.error.message], [
        false,
        "string",
        "string",
      ]);
    }
  }
  if (status >= 400) {
    assert(headers.get("content-type")?.startsWith("application/json"), "an error outside the envelope");
  }
}

export function assertBounded(outcome: RawOutcome, request: RawRequest): void {
  assert(
    outcome.isEnded || outcome.answers.length > 0,
    `neither answer nor end within ${request.timeoutMilliseconds} ms`,
  );
}
