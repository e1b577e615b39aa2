/// <reference lib="dom" />
/** The answer to a request, as text: nothing of it is ever drawn as anything else. */
import { formatBytes } from "../../format.ts";
import { ANSWER_CHARACTERS_SHOWN } from "../../limits.ts";
import type { Request } from "./request.ts";

export interface Answer {
  readonly status: number;
  /** Type, size and the headers that matter, each in a few words. */
  readonly facts: readonly string[];
  /** Empty where there is no body, or none to read. */
  readonly text: string;
}

const HEADERS = ["etag", "retry-after", "idempotency-replayed", "x-request-id"];

/** Throws if there was no answer. */
export async function send({ url, method, headers, body }: Request): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { ...headers },
    body,
    cache: "no-store",
    credentials: "omit",
  }).catch(() => {
    throw new Error("The service did not answer.");
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  const type = response.headers.get("content-type") ?? "";
  const shown = HEADERS.flatMap((name) => {
    const value = response.headers.get(name);
    return value === null ? [] : [`${name}: ${value}`];
  });
  const facts = [type, formatBytes(bytes.byteLength), ...shown].filter((fact) => fact !== "");
  return { status: response.status, facts, text: textOf(bytes, type) };
}

function textOf(bytes: Uint8Array, type: string): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const pretty = /\bjson\b/.test(type) && text !== "" ? JSON.stringify(JSON.parse(text), null, 2) : text;
    return pretty.length <= ANSWER_CHARACTERS_SHOWN ? pretty : `${pretty.slice(0, ANSWER_CHARACTERS_SHOWN)}…`;
  } catch {
    // Bytes of a picture or an archive, which the facts describe.
    return "";
  }
}
