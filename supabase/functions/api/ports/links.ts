/** Addresses that read one file, or write it once, without a key. */
import { z } from "zod";
import type { Wire } from "../contract/values.ts";

/** What a link is to be for. */
export interface NewLink {
  /** UUID, chosen by the caller: the same one again is the same link. */
  readonly id: string;
  /** SHA-256 of the token, 64 lower-case hexadecimal digits. */
  readonly tokenHash: string;
  readonly for: "read" | "write";
  readonly path: string;
  /** Seconds. */
  readonly expiresIn: number;
  /** Of a link for reading: by default the latest version at the time of the read. */
  readonly version?: number | undefined;
  /** Of a link for writing: the type of the file, whatever its user says. */
  readonly contentType?: string | undefined;
  /** Of a link for writing, besides the tier's size. */
  readonly maxBytes?: number | undefined;
  /** Of a link for writing: the version that the file must be at then; 0: there must be no file. */
  readonly ifVersion?: number | undefined;
}

/** What a link for writing allows. */
export const openedLink = z.object({
  path: z.string(),
  contentType: z.string().nullable(),
  ifVersion: z.number().nullable(),
  /** Whether its one version was written. */
  isUsed: z.boolean(),
});
export type OpenedLink = Wire<typeof openedLink>;
