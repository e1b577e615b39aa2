import type { CreatedLink, Link, LinkList, RevokedLink } from "../../../functions/api/contract/links.ts";
import { call } from "./client.ts";

export type { CreatedLink as NewLink, Link };

interface WantedLink {
  readonly path: string;
  readonly for: "read" | "write";
  /** Lifetime in seconds. */
  readonly expiresIn: number;
  /** For a link that reads: this version instead of the latest one. */
  readonly version?: number | undefined;
}

export function createLink(projectId: string, wanted: WantedLink): Promise<CreatedLink> {
  return call({ method: "POST", path: "/links", projectId, body: wanted });
}

/** Newest first. */
export async function listLinks(projectId: string, signal?: AbortSignal): Promise<readonly Link[]> {
  return (await call<LinkList>({ path: "/links", projectId, signal })).links;
}

export async function revokeLink(projectId: string, id: string): Promise<void> {
  const path = `/links/${encodeURIComponent(id)}`;
  await call<RevokedLink>({ method: "DELETE", path, projectId });
}
