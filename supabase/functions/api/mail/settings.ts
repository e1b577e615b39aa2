/** The settings of a mail service, as an operator gives them. */

export interface MailSettings {
  /** Takes `POST {from, to, subject, text}`, as Resend's API does. */
  readonly url: string;
  /** Undefined: the service asks for none. */
  readonly key: string | undefined;
  readonly from: string;
  /** The address of the console, without trailing slash; undefined: mails name none. */
  readonly consoleUrl: string | undefined;
}

/** https://resend.com/docs/api-reference/emails/send-email */
const DEFAULT_URL = "https://api.resend.com/emails";

/** Null where no mail service is set. Throws an error that names a missing or invalid setting. */
export function mailSettings(setting: (name: string) => string | undefined): MailSettings | null {
  const key = setting("MAIL_KEY") || undefined;
  const url = setting("MAIL_URL") || (key && DEFAULT_URL);
  if (!url) return null;
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? "")) throw new Error("MAIL_URL is not an address.");
  const from = setting("MAIL_FROM");
  if (!from) throw new Error("MAIL_FROM is not set.");
  return { url, key, from, consoleUrl: setting("CONSOLE_URL")?.replace(/\/+$/, "") || undefined };
}
