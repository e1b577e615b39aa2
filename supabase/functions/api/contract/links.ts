/** Links: addresses that read one file, or write it once, without a key. */
import { z } from "zod";
import { INTEGER_MAX } from "./limits.ts";
import { mediaType } from "./media_types.ts";
import { time, type Wire } from "./values.ts";

export const purpose = z.enum(["read", "write"]);

/** A usable link. Its address is stored nowhere. */
export const link = z.object({
  id: z.uuid(),
  for: purpose,
  path: z.string(),
  version: z.int().min(1).max(INTEGER_MAX).optional(),
  contentType: mediaType.optional(),
  maxBytes: z.int().optional(),
  ifVersion: z.int().optional(),
  keyId: z.uuid().optional().meta({
    description:
      "Shown to the project's owner and to keys with the scope `admin`: the key that created the link.",
  }),
  createdAt: time,
  expiresAt: time,
}).meta({ id: "Link" });
export type Link = Wire<typeof link>;

export const linkList = z.object({ links: z.array(link) }).meta({ id: "LinkList" });
export type LinkList = Wire<typeof linkList>;

export const createdLink = z.object({
  id: z.uuid(),
  url: z.string().meta({ description: "The address. It is not shown again." }),
  method: z.enum(["GET", "PUT"]),
  path: z.string(),
  expiresAt: time,
  curl: z.string().meta({ description: "A command that uses the link." }),
}).meta({ id: "NewLink" });
export type CreatedLink = Wire<typeof createdLink>;

export const revokedLink = z.object({ id: z.uuid(), revokedAt: time }).meta({ id: "RevokedLink" });
export type RevokedLink = Wire<typeof revokedLink>;
