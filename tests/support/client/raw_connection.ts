/** A connection on which a test sends arbitrary bytes, and the answers that came back. */

/** The outcome of a connection. */
export interface RawOutcome {
  /** The answers, in order. */
  readonly answers: readonly RawAnswer[];
  /** Whether the server ended the connection, by closing or resetting it, before the timeout. */
  readonly isEnded: boolean;
  readonly milliseconds: number;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface RawRequest {
  /** Sent in order; a number is a pause in milliseconds. */
  readonly parts: readonly (string | Uint8Array | number)[];
  /** Closes the client's side after the last part. */
  readonly finish?: boolean;
  /** The number of answers to wait for; the connection is closed after them. */
  readonly answers?: number;
  /** The requests are HEAD: answers have a Content-Length, but no body. */
  readonly isHead?: boolean;
  readonly timeoutMilliseconds: number;
}

/** One byte for each character, so that a test can send bytes that are not UTF-8. */
export function latin1(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (character) => character.charCodeAt(0) & 0xff);
}

export async function exchange(origin: string, request: RawRequest): Promise<RawOutcome> {
  const { hostname, port } = new URL(origin);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  const started = performance.now();
  let received = "";
  let isEnded = false;
  const decoder = new TextDecoder();
  const wanted = request.answers ?? Infinity;
  const answersIn = (text: string) => parseAnswers(text, request.isHead);
  const reading = (async () => {
    const buffer = new Uint8Array(64 * 1024);
    try {
      for (let count = await connection.read(buffer); count !== null; count = await connection.read(buffer)) {
        received += decoder.decode(buffer.subarray(0, count), { stream: true });
        if (answersIn(received).length >= wanted) return;
      }
    } catch {
      // A reset ends the connection, too.
    }
    isEnded = true;
  })();
  const writing = write(connection, request).catch(() => {/* the server has ended it */});
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLate = new Promise<void>((resolve) => timer = setTimeout(resolve, request.timeoutMilliseconds));
  await Promise.race([reading, tooLate]);
  clearTimeout(timer);
  const milliseconds = performance.now() - started;
  try {
    connection.close();
  } catch { /* closed already */ }
  await Promise.all([reading, writing]);
  return { answers: answersIn(received), isEnded, milliseconds };
}

async function write(connection: Deno.TcpConn, { parts, finish }: RawRequest): Promise<void> {
  for (const part of parts) {
    if (typeof part === "number") {
      await new Promise((resolve) => setTimeout(resolve, part));
      continue;
    }
    const bytes = typeof part === "string" ? latin1(part) : part;
    for (let done = 0; done < bytes.length;) done += await connection.write(bytes.subarray(done));
  }
  if (finish) await connection.closeWrite();
}

/** The answers that are complete so far. A body has a length, is chunked, or is absent. */
export function parseAnswers(text: string, isHead = false): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let rest = text; rest !== "";) {
    const end = rest.indexOf("\r\n\r\n");
    if (end < 0) break;
    const [statusLine = "", ...lines] = rest.slice(0, end).split("\r\n");
    const headers = new Headers();
    for (const line of lines) {
      const colon = line.indexOf(":");
      headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
    }
    const status = Number(statusLine.split(" ")[1]);
    const after = rest.slice(end + 4);
    const body = isHead ? { text: "", rest: after } : bodyOf(after, status, headers);
    if (body === null) break;
    // 100 Continue is not an answer.
    if (status >= 200) answers.push({ status, headers, text: body.text });
    rest = body.rest;
  }
  return answers;
}

function bodyOf(rest: string, status: number, headers: Headers): { text: string; rest: string } | null {
  if (status < 200 || status === 204 || status === 304) return { text: "", rest };
  const length = headers.get("content-length");
  if (length !== null) {
    // Valid since answers here are ASCII, or their length is only compared with the bytes received.
    const bytes = new TextEncoder().encode(rest);
    if (bytes.length < Number(length)) return null;
    const decoder = new TextDecoder();
    return {
      text: decoder.decode(bytes.subarray(0, Number(length))),
      rest: decoder.decode(bytes.subarray(Number(length))),
    };
  }
  if (headers.get("transfer-encoding") !== "chunked") return { text: rest, rest: "" };
  let text = "";
  for (let at = rest;;) {
    const line = at.indexOf("\r\n");
    if (line < 0) return null;
    const size = parseInt(at.slice(0, line), 16);
    if (at.length < line + 2 + size + 2) return null;
    text += at.slice(line + 2, line + 2 + size);
    at = at.slice(line + 2 + size + 2);
    if (size === 0) return { text, rest: at };
  }
}
