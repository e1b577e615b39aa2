/** Calls of the consent page: what an app asks for, and the person's answer. */
import type { AppRequest, AppScope } from "../../../functions/api/contract/apps.ts";
import { call } from "./client.ts";

export type { AppRequest, AppScope };

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
