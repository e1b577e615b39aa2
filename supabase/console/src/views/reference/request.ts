/// <reference lib="dom" />
/** What is sent for the fields that were filled in. */
import { encodePath, quoteForShell } from "../../format.ts";
import type { Operation, Parameter } from "./document.ts";

/** By `fieldOf`; what is missing or empty is not sent. */
export type Values = Readonly<Record<string, string>>;

export interface Request {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** The value of a parameter that is present or not. */
export const PRESENT = "present";

/** The key says the project, and the browser the origin. */
const NOT_SENT = ["x-project-id", "origin"];

export function fieldsOf({ parameters }: Operation): Parameter[] {
  return parameters.filter(({ name }) => !NOT_SENT.includes(name.toLowerCase()));
}

export function fieldOf(parameter: Parameter): string {
  return `${parameter.in} ${parameter.name}`;
}

/** Names of what has to be filled in, and is not. */
export function missingIn(operation: Operation, values: Values): string[] {
  return fieldsOf(operation).filter((one) => one.required && !values[fieldOf(one)]).map(({ name }) => name);
}

/** @param body with its type; null without one */
export function requestOf(
  baseUrl: string,
  operation: Operation,
  values: Values,
  body: { readonly type: string; readonly text: string } | null,
  apiKey: string,
): Request {
  let path = operation.path;
  const query: string[] = [];
  const headers: Record<string, string> = {};
  for (const parameter of fieldsOf(operation)) {
    const { name } = parameter;
    const value = values[fieldOf(parameter)];
    if (!value) continue;
    if (parameter.in === "path") path = path.replace(`{${name}}`, () => encodePath(value));
    else if (parameter.in === "header") headers[name.toLowerCase()] = value;
    else if (parameter.allowEmptyValue) query.push(name);
    else query.push(`${name}=${encodeURIComponent(value)}`);
  }
  if (apiKey !== "" && operation.security.length > 0) headers["x-api-key"] = apiKey;
  if (body !== null) headers["content-type"] = body.type;
  const url = `${baseUrl}${path}${query.length === 0 ? "" : `?${query.join("&")}`}`;
  return { url, method: operation.method, headers, body: body?.text ?? null };
}

/** The same request for a shell. */
export function curlLine({ url, method, headers, body }: Request): string {
  return [
    `curl -sS -X ${method} ${quoteForShell(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoteForShell(`${name}: ${value}`)}`),
    ...(body === null ? [] : [`--data-binary ${quoteForShell(body)}`]),
  ].join(" \\\n  ");
}
