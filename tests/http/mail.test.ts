/** Mails, where the operator has set a mail service: what is sent to whom, how often, and what a failure of it does. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { newWebhook } from "../../supabase/functions/api/contract/webhooks.ts";
import { INVITATION_MAILS_PER_DAY_MAX } from "../../supabase/functions/api/limits.ts";
import { type Account, claimsOf, owner, signUp } from "../support/client/accounts.ts";
import { dataOf } from "../support/client/contract.ts";
import { sweepAll } from "../support/client/erasure.ts";
import { MAIL_FROM, MAIL_KEY, MailService } from "../support/client/mail_service.ts";
import { addressOf, invited, joined, membersOf, observedInvitation } from "../support/client/members.ts";
import { Receiver } from "../support/client/receiver.ts";
import { eventually } from "../support/eventually.ts";
import { privateSuite } from "../support/stack/suite.ts";

const mails = new MailService();
const receiver = new Receiver();
Deno.test.afterAll(async () => {
  await Promise.all([mails.stop(), receiver.stop()]);
});
const { service, test } = await privateSuite({
  functionVariables: { ...mails.variables, OUTBOUND_ALLOWED_HOSTS: receiver.host },
});

const newAddress = () => `${crypto.randomUUID()}@example.org`;

async function mailTo(address: string) {
  await eventually(`a mail to ${address}`, () => mails.to(address).length > 0);
  const [mail] = mails.to(address);
  if (mail === undefined) throw new Error("unreachable");
  return mail;
}

test("an invitation is mailed: who invites to which project as what, until when, and where to answer", async () => {
  const by = await owner(service);
  const address = newAddress();
  const { mailed, expiresAt = "" } = await invited(by, address, "editor");
  assertEquals(mailed, true);
  const { from, to, subject, text, authorization } = await mailTo(address);
  assertEquals([from, to, authorization], [MAIL_FROM, [address], `Bearer ${MAIL_KEY}`]);
  assertEquals(subject, "Invitation to a project in Filestore");
  const { origin } = new URL(service.stack.supabaseUrl);
  const until = new Date(expiresAt).toLocaleDateString("en-GB", { dateStyle: "long", timeZone: "UTC" });
  for (const part of [addressOf(by), '"My project"', "an editor", `${origin}/console`, until]) {
    assert(text.includes(part), `${part} in ${text}`);
  }
  await by.request("DELETE", "/project/members/" + (await membersOf(by)).at(-1)?.id);
  assertEquals(mails.to(address).length, 1, "a withdrawal is not mailed");
});

test("whether an invited address has an account changes neither the answer, nor the calls, nor the mail", async () => {
  const by = await owner(service);
  const addresses = [addressOf(await signUp(service)), newAddress()];
  const observed = [];
  for (const address of addresses) {
    const seen = await observedInvitation(by, address);
    const { text, ...mail } = await mailTo(address);
    observed.push([seen, { ...mail, to: [] }, text.replaceAll(address, "address")]);
  }
  assertEquals(observed[0], observed[1]);
  assertMatch(JSON.stringify(observed), /"mailed":true|\\"mailed\\":true/);
});

test("50 invitations by an account are mailed in 24 hours, in deleted projects and withdrawn ones too; more are made, and say that they are not", async () => {
  const by = await owner(service);
  const sent = (count: number, hours: number) =>
    service.sql(
      `update filestore.account_windows set invitations_mailed_at =
         array(select now() - $2 * interval '1 hour' from generate_series(1, $3)) where account_id = $1`,
      [claimsOf(by.token)["sub"], hours, count],
    );
  const inviteAndWithdraw = async (who: Account & { readonly projectId: string }) => {
    const address = newAddress();
    const { id, mailed } = await invited(who, address, "viewer");
    assertEquals((await who.request("DELETE", `/project/members/${id}`)).status, 200);
    return { address, mailed };
  };
  await sent(INVITATION_MAILS_PER_DAY_MAX - 2, 23);
  const made = [];
  for (let n = 0; n < 3; n++) made.push(await inviteAndWithdraw(by));
  assertEquals((await by.request("DELETE", "/project?confirm=My%20project")).status, 200);
  const { id } = await by.createProject("Another");
  const elsewhere = Object.assign(by.about(id), { projectId: id });
  made.push(await inviteAndWithdraw(elsewhere));
  assertEquals(made.map(({ mailed }) => mailed), [true, true, false, false]);
  assertEquals((await inviteAndWithdraw(await owner(service))).mailed, true, "another account has its own");
  await sent(INVITATION_MAILS_PER_DAY_MAX, 25);
  const later = await inviteAndWithdraw(elsewhere);
  assertEquals(later.mailed, true);
  await mailTo(later.address);
  assertEquals(made.slice(2).flatMap(({ address }) => mails.to(address)), []);
});

test("a mail service that fails, hangs or is away changes no answer; the log has one line, without address and text", async () => {
  const by = await owner(service);
  let release = () => {};
  const hanging = new Promise<Response>((resolve) => release = () => resolve(new Response(null)));
  const faults = () =>
    service.log.filter((line) => line.includes('"backend_fault"') && line.includes('"mail"'));
  const before = faults().length;
  for (const [at, behaviour] of [() => new Response("no", { status: 422 }), () => hanging].entries()) {
    mails.behaviour = behaviour;
    const address = newAddress();
    assertEquals(
      (await invited(by, address, "viewer")).mailed,
      true,
      "it is answered before the mail is sent",
    );
    await mailTo(address);
    assertEquals((await membersOf(by)).length, at + 2);
  }
  release();
  await eventually("the fault is logged", () => faults().length > before);
  mails.accept();
  const [line = "", ...more] = faults().slice(before);
  assertEquals(more, []);
  assertMatch(line, /"reason":"422"/);
  for (const secret of ["@example.org", MAIL_KEY, "My project"]) {
    assertEquals(service.log.filter((line) => line.includes(secret)), [], secret);
  }
});

/** A webhook of the project whose tries fail, all but the last one of them done. */
async function almostDisabled(by: Account): Promise<string> {
  const body = { url: receiver.urlOf("secret-path") };
  const { id } = dataOf(
    await by.request("POST", "/project/webhooks", { body }),
    "create_webhook",
    newWebhook,
  );
  receiver.behaviour = () => new Response(null, { status: 500 });
  await by.request("POST", "/files", { body: { path: "a.txt", content: "x" } });
  await lastTry(id, "failures = 1");
  return id;
}

/** Once the condition holds, lets the last try of the webhook's delivery come. */
async function lastTry(id: string, condition: string): Promise<void> {
  const columns = `select from filestore.webhooks where id = $1 and state = 'active' and ${condition}`;
  await eventually(condition, async () => (await service.sql(columns, [id])).length === 1);
  await service.sql("update filestore.webhooks set failures = 9, next_at = now() where id = $1", [id]);
  await sweepAll(service);
}

test("a webhook that is disabled is told once to the owner and the admins, at confirmed addresses", async () => {
  const by = await owner(service);
  const [admin, unconfirmed, editor] = [
    await joined(by, "admin"),
    await joined(by, "admin"),
    await joined(by, "editor"),
  ];
  await service.sql("update auth.users set email_confirmed_at = null where email = $1", [
    addressOf(unconfirmed),
  ]);
  await invited(by, newAddress(), "admin");
  const told = () => mails.to(addressOf(admin)).filter(({ subject }) => subject.includes("webhook"));
  const id = await almostDisabled(by);
  await eventually("the mail", () => told().length > 0);
  const [mail] = told();
  assertEquals(mail?.to.toSorted(), [addressOf(by), addressOf(admin)].toSorted());
  assertEquals(mail?.subject, "A webhook in Filestore was disabled");
  for (const part of ['"My project"', receiver.host, "10 tries"]) assert(mail?.text.includes(part), part);
  assert(!mail?.text.includes("secret-path"), mail?.text);
  await sweepAll(service);
  const on = await by.request("PATCH", `/project/webhooks/${id}`, { body: { state: "active" } });
  assertEquals(on.status, 200);
  await lastTry(id, "failures = 1");
  await eventually("a second mail, for the second end", () => told().length === 2);
  assertEquals(mails.to(addressOf(editor)).filter(({ subject }) => subject.includes("webhook")), []);
});

test("of processes that report the same last try one is told to mail, and none that does not ask", async () => {
  const by = await owner(service);
  const body = { url: receiver.urlOf("a") };
  const created = await by.request("POST", "/project/webhooks", {
    body: { ...body, events: ["branch.ready"] },
  });
  const { id } = dataOf(created, "create_webhook", newWebhook);
  const report = async (mails: boolean) => {
    const tried = { id, leaseId: id, attempt: 10, type: "change", status: 500, ...mails && { mails } };
    const [row] = await service.sql<{ step: { disabled: { to: string[] } } | null }>(
      "select public.filestore_webhook_step($1, $2, $3::text::jsonb) as step",
      [by.projectId, id, JSON.stringify(tried)],
    );
    return row?.step?.disabled.to ?? null;
  };
  const lease = () =>
    service.sql(
      `update filestore.webhooks set state = 'active', failures = 9, lease_id = id, pending_id = id, pending_end = position
       where id = $1`,
      [id],
    );
  await lease();
  assertEquals([await report(true), await report(true)], [[addressOf(by)], null]);
  await lease();
  assertEquals([await report(false), await report(true)], [null, null]);
});
