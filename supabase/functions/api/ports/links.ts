/** Addresses that read one file, or write it once, without a key. */
import { z } from "zod";

export interface NewLink {
  /** UUID, chosen by the caller: a repeated call with the same UUID returns the same link. */
  readonly id: string;
  /** SHA-256 of the token, 64 lower-case hexadecimal digits. */
  readonly tokenHash: string;
  readonly for: "read" | "write";
  readonly path: string;
  /** In seconds. */
  readonly expiresIn: number;
  /** For a link for reading: by default the latest version at the time of each read. */
  readonly version?: number | null | undefined;
  /** For a link for writing: the type of the file, whatever the user of the link sends. */
  readonly contentType?: string | null | undefined;
  /** For a link for writing, in addition to the tier's limit. */
  readonly maxBytes?: number | null | undefined;
  /** For a link for writing: the version that the file must be at when the link is used; 0: there must be no file. */
  readonly ifVersion?: number | null | undefined;
}

/** The write that a link allows. */
export const openedLink = z.object({
  path: z.string(),
  contentType: z.string().nullable(),
  ifVersion: z.number().nullable(),
  /** Whether the one version was written. */
  isUsed: z.boolean(),
});
