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

/** Null where no mail service is set, or not rightly: then `onInvalid` is called. The service works without mails. */
export function mailSettings(
  setting: (name: string) => string | undefined,
  onInvalid: () => void = () => {},
): MailSettings | null {
  const key = setting("MAIL_KEY") || undefined;
  const url = setting("MAIL_URL") || (key && DEFAULT_URL);
  if (!url) return null;
  const from = setting("MAIL_FROM");
  if (!from || !/^https?:$/.test(URL.parse(url)?.protocol ?? "")) {
    onInvalid();
    return null;
  }
  return { url, key, from, consoleUrl: setting("CONSOLE_URL")?.replace(/\/+$/, "") || undefined };
}
