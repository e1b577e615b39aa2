/** Sends mails in the background. What they say, and how they are sent, is loaded with the first one. */
import type { Background } from "../runtime/background.ts";
import { lazy } from "../runtime/lazy.ts";
import type { Log } from "../runtime/log.ts";
import type { Mail } from "./mails.ts";
import type { MailSettings } from "./settings.ts";

const loadMails = lazy(() => import("./mails.ts"));

/** Sends the mail that `write` returns. */
export type SendMail = (
  write: (mails: typeof import("./mails.ts"), settings: MailSettings) => Mail,
) => void;

interface Parts {
  readonly mail: MailSettings | null;
  readonly background: Background;
  readonly log: Log;
}

/** Null where the operator has set no mail service. */
export function mailSender({ mail, background, log }: Parts): SendMail | null {
  if (mail === null) return null;
  return (write) => {
    const sending = loadMails().then((mails) => mails.sendMail(write(mails, mail), mail, log));
    background(sending.catch((error) => log.backgroundFault("mail", error)), "mail");
  };
}
