/** Mails of the service, plain text: what they say, and how they are sent. Loaded with the first one. */
import { ADDRESS_LENGTH_MAX, MAIL_MILLISECONDS, NAME_LENGTH_MAX } from "../limits.ts";
import { withoutHidden } from "../runtime/hidden_characters.ts";
import type { Log } from "../runtime/log.ts";
import type { MailSettings } from "./settings.ts";

export interface Mail {
  /** None: nothing is sent. */
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
}

export interface InvitationMail {
  readonly email: string;
  readonly role: string;
  readonly projectName: string;
  /** An address, if the account has one. */
  readonly invitedBy?: string | null | undefined;
  readonly expiresAt: string;
}

export interface DisabledMail {
  readonly to: readonly string[];
  readonly projectName: string;
  readonly url: string;
  readonly failures: number;
}

const ROLES: Readonly<Record<string, string>> = {
  viewer: "a viewer, who reads files",
  editor: "an editor, who reads and writes files",
  admin: "an admin, who also manages keys and members",
};

/** Nothing in the subject, and one line of the text, is chosen by the person who invites. */
export function invitationMail(
  { email, role, projectName, invitedBy, expiresAt }: InvitationMail,
  { consoleUrl }: MailSettings,
): Mail {
  const inviter = invitedBy == null ? "Somebody" : plain(invitedBy);
  const project = quoted(projectName);
  const place = consoleUrl === undefined ? "to its console" : `at ${consoleUrl}`;
  const end = day(expiresAt);
  return {
    to: [email],
    subject: "Invitation to a project in Filestore",
    text:
      `${inviter} invites you to the project ${project} in Filestore, as ${ROLES[role] ?? "a member"}.\n\n` +
      `To accept or decline, sign in ${place} with this address, ${email}, before ${end}. If you have no ` +
      "account yet, sign up with it.\n\nIf you do not expect this, ignore it: then nothing happens.\n",
  };
}

export function disabledMail({ to, projectName, url, failures }: DisabledMail, settings: MailSettings): Mail {
  const project = quoted(projectName);
  // Its path may contain a secret.
  const host = plain(URL.parse(url)?.host ?? "");
  const place = settings.consoleUrl ?? "the console";
  return {
    to,
    subject: "A webhook in Filestore was disabled",
    text:
      `The project ${project} no longer tells ${host} of its changes: ${failures} tries of one delivery have failed, ` +
      "the last one just now.\n\n" +
      `No change is lost. Turn the webhook on again in the settings of the project, in ${place}: it then goes on ` +
      "where it was. The last deliveries, with their errors, are shown there.\n",
  };
}

/** Sends a mail, once. A failure is one line of the log, without address and text, and has no other effect. */
export async function sendMail(mail: Mail, { url, key, from }: MailSettings, log: Log): Promise<void> {
  if (mail.to.length === 0) return;
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({ from, ...mail }),
      redirect: "error",
      signal: AbortSignal.timeout(MAIL_MILLISECONDS),
    });
    await answer.body?.cancel();
    if (!answer.ok) log.backendFault("mail", 0, String(answer.status));
  } catch (error) {
    const isLate = error instanceof Error && error.name === "TimeoutError";
    log.backendFault("mail", 0, isLate ? "timeout" : "out of reach");
  }
}

/** A text that somebody chose, on one line. An address with a path does not become a link. */
function plain(text: string): string {
  const line = withoutHidden(text.replace(/\s+/g, " ")).replace(/:(?=\/)/g, ": ");
  return [...line].slice(0, ADDRESS_LENGTH_MAX).join("");
}

/** A name in quotes. `example.org` in it does not become a link. */
function quoted(name: string): string {
  const line = [...plain(name)].slice(0, NAME_LENGTH_MAX).join("");
  return `"${line.replaceAll('"', "'").replace(/([.。．｡])(?=\p{L})/gu, "$1 ")}"`;
}

/** `13 December 2026`, in UTC. */
function day(time: string): string {
  return new Date(time).toLocaleDateString("en-GB", { dateStyle: "long", timeZone: "UTC" });
}
