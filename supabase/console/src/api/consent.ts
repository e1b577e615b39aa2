/** Calls of the consent page: what an app asks for, and the person's answer. */
import { call } from "./client.ts";

export type AppScope = "read" | "write";

export interface AppRequest {
  /** `host` is the one that the answer goes to; empty if the app is on the person's own device. */
  readonly client: { readonly id: string; readonly name: string; readonly host: string };
  readonly scopes: readonly AppScope[];
  readonly resource: string;
  readonly expiresAt: string;
}

export interface Grant {
  readonly projectId: string;
  readonly scopes: readonly AppScope[];
  readonly pathPrefix?: string | undefined;
  readonly expiresAt?: string | undefined;
}

export function readAppRequest(request: string, signal: AbortSignal): Promise<AppRequest> {
  return call({ path: `/oauth/requests/${encodeURIComponent(request)}`, signal });
}

/** Without a grant, the person denies the request. Returns the address that gives the app its answer. */
export async function answerApp(request: string, grant?: Grant): Promise<string> {
  const body = { request, approve: grant !== undefined, ...grant };
  const { redirectTo } = await call<{ redirectTo: string }>({ method: "POST", path: "/oauth/consent", body });
  return redirectTo;
}
