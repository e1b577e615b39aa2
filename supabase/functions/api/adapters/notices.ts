/** Faults that only the operator can fix. The log states what to do from time to time, not for each request. */
import { NOTICE_INTERVAL_SECONDS } from "../limits.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";

/** What is wrong → what the operator must do. `docs/operating/incidents.md` lists them. */
export const NOTICES = {
  secret_key_refused:
    "Supabase refuses the function's secret key (SUPABASE_SECRET_KEYS or SUPABASE_SERVICE_ROLE_KEY): it is wrong, " +
    "revoked or disabled. Enable or create a secret key in the dashboard under Settings > API Keys, then deploy the " +
    "function again.",
  publishable_key_refused:
    "Supabase refuses the function's publishable key (SUPABASE_PUBLISHABLE_KEYS or SUPABASE_ANON_KEY): it is wrong, " +
    "revoked or disabled. Enable or create a publishable key in the dashboard under Settings > API Keys, then deploy " +
    "the function again.",
  function_unknown:
    "The REST API lacks a database function that this version calls. Push the migrations (supabase db push --remote); if " +
    "that is done, reload its schema cache: notify pgrst, 'reload schema'.",
  database_read_only:
    "The database is read-only: its disk is probably full. Enlarge the disk or free some space; see the dashboard.",
  bucket_missing:
    "The bucket of the segments, filestore-segments, is missing. Create it again as a private bucket, and copy its " +
    "objects from a backup.",
  mail_settings:
    "No mails are sent: MAIL_KEY or MAIL_URL is set, but MAIL_FROM is missing, or MAIL_URL is not an http or https " +
    "address. Set what is missing, or remove MAIL_KEY and MAIL_URL.",
} as const;

export type Notice = keyof typeof NOTICES;

/** One per isolate. */
export class Notices {
  private readonly lastAt = new Map<Notice, number>();

  constructor(private readonly log: Log, private readonly clock: Clock) {}

  /** Logs the notice, at most once every NOTICE_INTERVAL_SECONDS. */
  report(notice: Notice): void {
    const now = this.clock.now();
    const last = this.lastAt.get(notice);
    if (last !== undefined && now - last < NOTICE_INTERVAL_SECONDS * 1000) return;
    this.lastAt.set(notice, now);
    this.log.actionRequired(notice, NOTICES[notice]);
  }
}
