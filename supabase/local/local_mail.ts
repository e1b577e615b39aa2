/**
 * The mail that Auth would send. A local stack sends none: it keeps the latest mails for the console, and shows each in
 * the terminal. Supabase's own local stack has a mailbox for this.
 */
import type { EmailDriver } from "@supabase/lite";
import { LOCAL_MAILS_KEPT } from "./limits.ts";

export interface Mail {
  readonly to: string;
  readonly subject: string;
  /** The link in the mail that its reader must open; null if it contains none. */
  readonly link: string | null;
  /** ISO 8601. */
  readonly sentAt: string;
}

export class LocalMail implements EmailDriver {
  readonly #onMail: (mail: Mail) => void;
  #mails: readonly Mail[] = [];

  constructor(onMail: (mail: Mail) => void = () => {}) {
    this.#onMail = onMail;
  }

  /** The latest mails, newest first. */
  get mails(): readonly Mail[] {
    return this.#mails;
  }

  send({ to, subject, text }: Parameters<EmailDriver["send"]>[0]): Promise<void> {
    const [link = null] = /https?:\/\/\S+\/auth\/v1\/verify\?\S+/.exec(text ?? "") ?? [];
    const mail = { to: String(to), subject, link, sentAt: new Date().toISOString() };
    this.#mails = [mail, ...this.#mails].slice(0, LOCAL_MAILS_KEPT);
    this.#onMail(mail);
    return Promise.resolve();
  }
}
