/// <reference lib="dom" />
/** Calls of the link routes. */
import * as z from "zod/mini";
import { call } from "./client.ts";

const linkSchema = z.object({
  id: z.string(),
  for: z.enum(["read", "write"]),
  path: z.string(),
  version: z.optional(z.number()),
  maxBytes: z.optional(z.number()),
  keyId: z.nullish(z.string()),
  createdAt: z.string(),
  expiresAt: z.string(),
});
/** A link that can be used, without its address, which is stored nowhere. */
export type Link = z.infer<typeof linkSchema>;

const linksSchema = z.object({ links: z.array(linkSchema) });

const newLinkSchema = z.object({
  id: z.string(),
  url: z.string(),
  method: z.enum(["GET", "PUT"]),
  path: z.string(),
  expiresAt: z.string(),
  curl: z.string(),
});
export type NewLink = z.infer<typeof newLinkSchema>;

export interface WantedLink {
  readonly path: string;
  readonly for: "read" | "write";
  /** Seconds. */
  readonly expiresIn: number;
  /** For reading: this version instead of the latest one. */
  readonly version?: number | undefined;
}

export function createLink(projectId: string, wanted: WantedLink): Promise<NewLink> {
  return call({ method: "POST", path: "/links", projectId, body: wanted }, newLinkSchema);
}

/** Newest first. */
export async function listLinks(projectId: string, signal?: AbortSignal): Promise<readonly Link[]> {
  return (await call({ path: "/links", projectId, signal }, linksSchema)).links;
}

export async function revokeLink(projectId: string, id: string): Promise<void> {
  const path = `/links/${encodeURIComponent(id)}`;
  await call({ method: "DELETE", path, projectId }, z.object({ id: z.string() }));
}
