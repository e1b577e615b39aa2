/**
 * Compares every answer that a test receives with /openapi.json. The gateway runs in the test's process and checks each
 * answer before its last byte is sent, so a complaint belongs to the test that sent the request.
 */
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { openapiDocument } from "../../../supabase/functions/api/openapi/document.ts";
import { ROUTES } from "../../../supabase/functions/api/routes/mod.ts";
import { decompress } from "../client/http.ts";
import { DocumentCheck, type Exchange } from "./document_check.ts";

let check: DocumentCheck | undefined;
const complaints: string[] = [];

/** Stores what is wrong with the answer until the end of the test. */
export function checkAnswer(exchange: Exchange): void {
  check ??= new DocumentCheck(openapiDocument(ROUTES));
  const complaint = check.complaint(exchange);
  if (complaint !== null) complaints.push(complaint);
}

/** Returns the complaints since the last call, and forgets them. */
export function takeComplaints(): string[] {
  return complaints.splice(0);
}

/** Throws if an answer was undocumented. `suite.ts` calls it at the end of each test. */
export function assertDocumented(): void {
  const [first, ...others] = takeComplaints();
  if (first !== undefined) {
    throw new Error(others.length > 0 ? `${first} (and ${others.length} more)` : first);
  }
}

/** A hook for the gateway of a stack. */
export function observeAnswers(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const [rawPath = ""] = (incoming.url ?? "").split("?", 1);
  if (!rawPath.startsWith("/functions/v1/api")) return;
  const answer = new ObservedAnswer(incoming.method ?? "GET", rawPath);
  before(outgoing, "writeHead", (status, headers) => answer.begin(status, headers));
  before(outgoing, "write", (chunk) => answer.add(chunk));
  before(outgoing, "end", (chunk) => {
    answer.add(chunk);
    // An answer that breaks off is destroyed, so this does not run for it.
    answer.finish();
  });
}

/** Calls `look` with the arguments before the method runs. */
function before(
  outgoing: ServerResponse,
  name: "writeHead" | "write" | "end",
  look: (...given: unknown[]) => void,
): void {
  Reflect.set(
    outgoing,
    name,
    new Proxy(outgoing[name], {
      apply(method, self, given) {
        look(...given);
        return Reflect.apply(method, self, given);
      },
    }),
  );
}

class ObservedAnswer {
  readonly #headers = new Headers();
  readonly #chunks: Uint8Array[] = [];
  #status = 0;
  #bytes = 0;
  #isFinished = false;

  constructor(readonly method: string, readonly rawPath: string) {}

  /** `given`: names and values alternating, or an object, as `node:http` takes them. */
  begin(status: unknown, given: unknown): void {
    this.#status = Number(status);
    const flat = Array.isArray(given) ? given : Object.entries(Object(given)).flat();
    for (let i = 0; i + 1 < flat.length; i += 2) this.#headers.append(String(flat[i]), String(flat[i + 1]));
  }

  add(chunk: unknown): void {
    const piece = typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk;
    if (!(piece instanceof Uint8Array)) return;
    this.#bytes += piece.length;
    // A copy, since the runtime may reuse the buffer. The bytes of a file are not checked.
    if (this.#isJson) this.#chunks.push(piece.slice());
    const length = this.#headers.get("content-length");
    if (length !== null && this.#bytes >= Number(length)) this.finish();
  }

  finish(): void {
    if (this.#isFinished || this.#status === 0) return;
    this.#isFinished = true;
    const { method, rawPath } = this;
    checkAnswer({ method, rawPath, status: this.#status, headers: this.#headers, text: this.#text() });
  }

  get #isJson(): boolean {
    return this.#headers.get("content-type")?.startsWith("application/json;") ?? false;
  }

  #text(): string | undefined {
    if (!this.#isJson) return undefined;
    const bytes = new Uint8Array(Buffer.concat(this.#chunks));
    return new TextDecoder().decode(decompress(bytes, this.#headers.get("content-encoding")));
  }
}
