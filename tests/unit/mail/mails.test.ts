/** What mails say: nothing that a stranger chooses can add lines, headers or links. And the settings of the mail service. */
import { assert, assertEquals } from "@std/assert";
import { disabledMail, invitationMail } from "../../../supabase/functions/api/mail/mails.ts";
import { mailSettings } from "../../../supabase/functions/api/mail/settings.ts";

const SETTINGS = {
  url: "http://m/",
  key: undefined,
  from: "a@example.org",
  consoleUrl: "https://c.example.org",
};
const INVITATION = {
  email: "ada@example.org",
  role: "editor",
  projectName: "Notes",
  invitedBy: "bob@example.org",
  expiresAt: "2026-12-13T10:00:00.000Z",
};

const HOSTILE = [
  "a\nBcc: victim@example.org\n\nb",
  "a\r\nb\u2028c\u0085d",
  "\u202egnirts\u2066\u200b\u00ad",
  "Claim it: https://evil.example/x?y=1 or www.evil.example, evil。example",
  'x" of your bank. "',
  "🎉".repeat(500),
];

Deno.test("an invitation says who, what, as what, until when and where, in plain text", () => {
  const { to, subject, text } = invitationMail(INVITATION, SETTINGS);
  assertEquals([to, subject], [["ada@example.org"], "Invitation to a project in Filestore"]);
  assertEquals(
    text,
    'bob@example.org invites you to the project "Notes" in Filestore, as an editor, who reads and writes files.\n\n' +
      "To accept or decline, sign in at https://c.example.org with this address, ada@example.org, before 13 December 2026. " +
      "If you have no account yet, sign up with it.\n\nIf you do not expect this, ignore it: then nothing happens.\n",
  );
  const others = invitationMail({ ...INVITATION, invitedBy: null }, { ...SETTINGS, consoleUrl: undefined });
  assert(others.text.startsWith("Somebody invites you") && others.text.includes("sign in to its console"));
});

Deno.test("a project's name adds no line, no link and no quote to a mail, and nothing to its subject", () => {
  const webhook = { to: ["a@example.org"], url: "https://hook.example.org/secret", failures: 10 };
  const mailsOf = (projectName: string) => [
    invitationMail({ ...INVITATION, projectName }, SETTINGS),
    disabledMail({ ...webhook, projectName }, SETTINGS),
  ];
  const harmless = mailsOf("Notes");
  for (const name of HOSTILE) {
    for (const [n, { subject, text }] of mailsOf(name).entries()) {
      assertEquals(subject, harmless[n]?.subject);
      assertEquals(text.split("\n").length, harmless[n]?.text.split("\n").length, text);
      assertEquals(text.match(/"/g)?.length, 2, text);
      assertEquals(text.match(/[\p{Cc}\p{Cf}]/gu)?.every((character) => character === "\n"), true, text);
      assertEquals(
        text.includes("evil.example") || text.includes("evil。example") || text.includes("s://e"),
        false,
        text,
      );
      assert(text.length < 1000, text);
    }
  }
});

Deno.test("the mail about a webhook names its host, not its path", () => {
  const webhook = {
    to: ["a@example.org"],
    projectName: "x",
    url: "https://hook.example.org:8443/secret?key=1",
  };
  const { text } = disabledMail({ ...webhook, failures: 10 }, SETTINGS);
  assert(
    text.includes("tells hook.example.org:8443 of its changes: 10 tries") && !text.includes("secret"),
    text,
  );
});

Deno.test("settings: none, Resend by default, another address; without a sender or with a wrong address, no mails", () => {
  const read = (variables: Readonly<Record<string, string>>) => mailSettings((name) => variables[name]);
  const from = { MAIL_FROM: "Files <files@example.org>" };
  assertEquals([read({}), read(from), read({ MAIL_URL: "", MAIL_KEY: "" })], [null, null, null]);
  assertEquals(read({ MAIL_KEY: "k", ...from, CONSOLE_URL: "https://c.example.org/" }), {
    url: "https://api.resend.com/emails",
    key: "k",
    from: from.MAIL_FROM,
    consoleUrl: "https://c.example.org",
  });
  assertEquals(read({ MAIL_URL: "http://m/", ...from }), {
    url: "http://m/",
    key: undefined,
    from: from.MAIL_FROM,
    consoleUrl: undefined,
  });
  for (const wrong of [{ MAIL_KEY: "k" }, { MAIL_URL: "m", ...from }, { MAIL_URL: "ftp://m/", ...from }]) {
    let invalid = 0;
    assertEquals(mailSettings((name) => new Map(Object.entries(wrong)).get(name), () => invalid++), null);
    assertEquals(invalid, 1, JSON.stringify(wrong));
  }
});
