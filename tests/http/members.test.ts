/** Members: invitations and their answers, roles, leaving and being removed, and what nobody learns. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  ACCOUNT_PROJECTS_MAX,
  INVITATION_DAYS,
  PROJECT_MEMBERS_MAX,
} from "../../supabase/functions/api/limits.ts";
import {
  changePage as ownersChangePage,
  versionList as ownersVersionList,
} from "../../supabase/functions/api/contract/versions.ts";
import { Administration } from "../../supabase/local/admin/administration.ts";
import { type Account, claimsOf, owner, signUp } from "../support/client/accounts.ts";
import {
  assertRefused,
  dataOf,
  newLink,
  projectRecord,
  removedMemberRecord,
} from "../support/client/contract.ts";
import {
  accept,
  addressOf,
  invitationsOf,
  invite,
  invited,
  joined,
  membersOf,
  observedInvitation,
} from "../support/client/members.ts";
import { Files } from "../support/client/files.ts";
import { answerRequest, App, connected } from "../support/client/oauth.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service } = await suite();
const idOf = ({ token }: Account) => String(claimsOf(token)["sub"]);
const NOBODY = "d0000000-0000-4000-8000-000000000000";

test("an invitation waits 14 days for the account with its address, which accepts it and is a member with that id", async () => {
  const [by, guest] = [await owner(service), await signUp(service)];
  const address = addressOf(guest);
  const made = await invited(by, address.toUpperCase(), "editor");
  const { id, expiresAt = "" } = made;
  assertEquals(made, { id, email: address, role: "editor", state: "invited", expiresAt, mailed: false });
  const days = (Date.parse(expiresAt) - Date.now()) / 86_400_000;
  assert(Math.abs(days - INVITATION_DAYS) < 0.1, expiresAt);
  assertEquals(await guest.projects(), [], "a guest is no member");
  assertRefused(await guest.about(by.projectId).request("GET", "/project"), "PROJECT_NOT_FOUND");
  const waiting = {
    id,
    projectName: "My project",
    role: "editor" as const,
    invitedBy: addressOf(by),
    expiresAt,
  };
  assertEquals(await invitationsOf(guest), [waiting]);
  assertEquals(await invitationsOf(await signUp(service)), [], "nobody else sees it");
  const project = await accept(guest, id);
  assertEquals([project.id, project.role], [by.projectId, "editor"]);
  assertEquals((await guest.projects()).map(({ id, role }) => [id, role]), [[by.projectId, "editor"]]);
  assertEquals(await invitationsOf(guest), []);
  const members = [
    { id: idOf(by), email: addressOf(by), role: "owner" as const, state: "active" as const },
    { id, email: address, role: "editor" as const, state: "active" as const },
  ];
  assertEquals(await membersOf(by), members);
  assertEquals(await membersOf(guest.about(by.projectId)), members, "every member sees the list");
  assertEquals((await accept(guest, id)).id, by.projectId, "accepting again changes nothing");
  const declined = await guest.request("POST", `/invitations/${id}/decline`);
  assertRefused(declined, "INVITATION_NOT_FOUND", "decline_invitation");
});

test("404 INVITATION_NOT_FOUND: another's, withdrawn, declined, expired, of an unconfirmed address, of a deleted project", async () => {
  const by = await owner(service);
  const answers = async (person: Account, id: string) => {
    for (const answer of ["decline", "accept"] as const) {
      const refused = await person.request("POST", `/invitations/${id}/${answer}`);
      assertRefused(refused, "INVITATION_NOT_FOUND", `${answer}_invitation`);
    }
    assertEquals(await invitationsOf(person), []);
  };
  const guest = async () => {
    const person = await signUp(service);
    return { person, ...await invited(by, addressOf(person), "viewer") };
  };
  await answers(await signUp(service), (await guest()).id);
  await answers(await signUp(service), "nonsense");
  const withdrawn = await guest();
  dataOf(
    await by.request("DELETE", `/project/members/${withdrawn.id}`),
    "remove_member",
    removedMemberRecord,
  );
  await answers(withdrawn.person, withdrawn.id);
  const declining = await guest();
  const path = `/invitations/${declining.id}/decline`;
  dataOf(await declining.person.request("POST", path), "decline_invitation", removedMemberRecord);
  await answers(declining.person, declining.id);
  const late = await guest();
  await service.sql("update filestore.members set expires_at = now() where id = $1", [late.id]);
  await answers(late.person, late.id);
  const unconfirmed = await guest();
  const confirm = "update auth.users set email_confirmed_at = $2::timestamptz where id = $1";
  await service.sql(confirm, [idOf(unconfirmed.person), null]);
  await answers(unconfirmed.person, unconfirmed.id);
  await service.sql(confirm, [idOf(unconfirmed.person), "2026-01-01"]);
  assertEquals((await invitationsOf(unconfirmed.person)).length, 1);
  await by.request("DELETE", "/project?confirm=My%20project");
  await answers(unconfirmed.person, unconfirmed.id);
});

test("409 MEMBER_ALREADY_EXISTS: the owner, a member, an invited address, in any case; not one that expired or was removed", async () => {
  const by = await owner(service);
  const member = await joined(by, "viewer");
  const waiting = await invited(by, "Waiting@Example.org", "viewer");
  for (const address of [addressOf(by), addressOf(member).toUpperCase(), "waiting@example.ORG"]) {
    assertRefused(await invite(by, address, "admin"), "MEMBER_ALREADY_EXISTS", "invite_member");
  }
  await service.sql("update filestore.members set expires_at = now() where id = $1", [waiting.id]);
  assertEquals((await membersOf(by)).length, 2, "an expired invitation is not shown");
  await invited(by, "waiting@example.org", "editor");
  await by.request("DELETE", `/project/members/${member.id}`);
  await invited(by, addressOf(member), "editor");
});

test("422 MEMBER_LIMIT_REACHED: 50 people, the owner and open invitations included", async () => {
  const by = await owner(service);
  const values = `insert into filestore.members (project_id, email, role, expires_at)
    select $1, n || '@example.org', 'viewer', now() + interval '1 day' from generate_series(1, $2::integer) n`;
  await service.sql(values, [by.projectId, PROJECT_MEMBERS_MAX - 2]);
  const last = await invited(by, "last@example.org", "viewer");
  const refused = await invite(by, "more@example.org", "viewer");
  assertEquals(assertRefused(refused, "MEMBER_LIMIT_REACHED"), { limit: PROJECT_MEMBERS_MAX });
  await by.request("DELETE", `/project/members/${last.id}`);
  await invited(by, "more@example.org", "viewer");
});

test("whether an address has an account changes neither the answer nor the calls, nor the rows that they read", async () => {
  const by = await owner(service);
  const known = addressOf(await signUp(service));
  const unknown = `${crypto.randomUUID()}@example.org`;
  assertEquals(await observedInvitation(by, known), await observedInvitation(by, unknown));
  // Invitations are found by the guest's own address: no function of the members looks an account up by an address.
  const functions = await service.sql<{ definition: string }>(
    `select pg_get_functiondef(p.oid) as definition from pg_proc p
     where p.proname in ('invite', 'invitation_mail', 'team', 'manage_members', 'member_record', 'filestore_account_members')`,
  );
  assertEquals(functions.length, 6);
  for (const { definition } of functions) {
    assertEquals(/auth\.|find_account|find_owner/.test(definition), false);
  }
});

test("admins manage all but the owner; anybody leaves; 409 OWNER_REQUIRED for the owner", async () => {
  const by = await owner(service);
  const [admin, editor, viewer] = [
    await joined(by, "admin"),
    await joined(by, "editor"),
    await joined(by, "viewer"),
  ];
  const change = (who: Account, id: string, role: string) =>
    who.request("PATCH", `/project/members/${id}`, { body: { role } });
  const remove = (who: Account, id: string) => who.request("DELETE", `/project/members/${id}`);
  const waiting = await invited(by, "waiting@example.org", "viewer");
  for (const who of [editor, viewer]) {
    assertEquals(assertRefused(await change(who, who.id, "admin"), "FORBIDDEN_SCOPE"), { scope: "admin" });
    for (const id of [admin.id, waiting.id]) {
      assertEquals(assertRefused(await remove(who, id), "FORBIDDEN_SCOPE"), { scope: "admin" });
    }
    assertRefused(await invite(who, "x@example.org", "viewer"), "FORBIDDEN_SCOPE", "invite_member");
  }
  for (const attempt of [change(admin, idOf(by), "viewer"), remove(admin, idOf(by))]) {
    assertEquals(assertRefused(await attempt, "FORBIDDEN_SCOPE"), { role: "owner" });
  }
  assertRefused(await change(by, idOf(by), "admin"), "OWNER_REQUIRED", "change_member");
  assertRefused(await remove(by, idOf(by)), "OWNER_REQUIRED", "remove_member");
  assertRefused(await change(admin, NOBODY, "viewer"), "MEMBER_NOT_FOUND", "change_member");
  assertRefused(await remove(admin, "nonsense"), "MEMBER_NOT_FOUND", "remove_member");
  for (const role of ["owner", "nobody", ""]) {
    assertRefused(await change(by, editor.id, role), "VALIDATION_ERROR");
  }
  for (const email of ["", "x", "a b@example.org", `${"a".repeat(250)}@example.org`]) {
    assertRefused(await invite(by, email, "viewer"), "VALIDATION_ERROR", "invite_member");
  }
  assertEquals((await change(admin, editor.id, "viewer")).status, 200);
  const write = (who: Account) => who.request("POST", "/files", { body: { path: "f", content: "x" } });
  assertEquals(assertRefused(await write(editor), "FORBIDDEN_SCOPE"), { scope: "write" });
  assertMatch((await write(editor)).text, /Your role in the project lacks the scope/);
  assertEquals((await change(admin, editor.id, "admin")).status, 200);
  assertEquals((await write(editor)).status, 200, "a promotion is in force at once");
  assertEquals((await remove(viewer, viewer.id)).status, 200);
  assertRefused(await viewer.request("GET", "/files"), "PROJECT_NOT_FOUND");
  assertEquals((await membersOf(by)).map(({ id }) => id), [
    idOf(by),
    admin.id,
    editor.id,
    waiting.id,
  ]);
});

test("the links and apps of a removed member end, and do not return with a new invitation; keys stay", async () => {
  const by = await owner(service);
  const member = await joined(by, "admin");
  await by.request("POST", "/files", { body: { path: "f.txt", content: "x" } });
  const link = async (who: Account) =>
    dataOf(
      await who.request("POST", "/links", { body: { path: "f.txt", for: "read" } }),
      "create_link",
      newLink,
    ).url;
  const [kept, ended] = [await link(by), await link(member)];
  const { key } = await member.createKey();
  const app = await App.register(service);
  const tokens = await app.connect(member);
  const states = async () => [
    ...await Promise.all([kept, ended].map(async (url) => (await service.requestAt(url, "GET")).status)),
    (await connected(service, tokens.access_token).rpc("tools/list")).status,
    (await service.request(key, "GET", "/files/f.txt")).status,
  ];
  assertEquals(await states(), [200, 200, 200, 200]);
  await by.request("DELETE", `/project/members/${member.id}`);
  assertEquals(await states(), [200, 410, 401, 200]);
  await accept(member, (await invited(by, addressOf(member), "admin")).id);
  assertEquals(await states(), [200, 410, 401, 200]);
});

test("a viewer's app gets no scope that the role lacks; an app and a link lose what a demotion takes", async () => {
  const by = await owner(service);
  const [viewer, editor] = [await joined(by, "viewer"), await joined(by, "editor")];
  const app = await App.register(service);
  const asked = await answerRequest(viewer, await app.request());
  assertEquals(assertRefused(asked, "FORBIDDEN_SCOPE"), { scope: "write" });
  await app.connect(viewer, { scopes: ["read"] });
  const agent = connected(service, (await app.connect(editor)).access_token);
  assertEquals((await agent.tools()).some(({ name }) => name === "write_file"), true);
  const made = await editor.request("POST", "/links", { body: { path: "g.txt", for: "write" } });
  const { url } = dataOf(made, "create_link", newLink);
  await by.request("PATCH", `/project/members/${editor.id}`, { body: { role: "viewer" } });
  assertMatch(await agent.refused("write_file", { path: "f.txt", content: "x" }), /lacks the scope `write`/);
  const { pathname } = new URL(url);
  const put = await service.request(null, "PUT", pathname.slice(pathname.indexOf("/l/")), { body: "x" });
  assertRefused(put, "FORBIDDEN_SCOPE");
});

test("an account that is deleted or banned is no member; the owner of a project that it was in is not affected", async () => {
  const by = await owner(service);
  const [leaving, banned] = [await joined(by, "admin"), await joined(by, "admin")];
  for (const who of [leaving, banned]) assertEquals((await who.request("GET", "/files")).status, 200);
  const deleted = await leaving.request("DELETE", `/account?confirm=${addressOf(leaving)}`);
  assertEquals(deleted.status, 200);
  assertEquals((await membersOf(by)).map(({ id }) => id), [idOf(by), banned.id]);
  await service.sql("update auth.users set banned_until = now() + interval '1 hour' where id = $1", [
    idOf(banned),
  ]);
  assertRefused(await banned.request("GET", "/files"), "PROJECT_NOT_FOUND");
  assertEquals((await by.request("GET", "/files")).status, 200);
});

/** The bytes that count towards the shared quota of the account. */
const sharedBytes = async (who: Account) => (await who.about(null).describe()).usage.sharedBytes;
const transfer = (who: Account, memberId: string) =>
  who.request("POST", "/project/transfer", { body: { memberId } });

test("a transfer makes a member the owner and the owner an admin; usage and quota move, ids stay", async () => {
  const by = await owner(service);
  await service.setTier(by.projectId, "free");
  const [next, other] = [await joined(by, "viewer"), await joined(by, "editor")];
  await by.request("POST", "/files", { body: { path: "f.txt", content: "x".repeat(1000) } });
  const used = await sharedBytes(by);
  assert(used > 1000);
  assertEquals(await sharedBytes(next), 0);
  const before = await membersOf(by);
  const answer = await transfer(by, next.id);
  assertEquals(dataOf(answer, "transfer_project", projectRecord).role, "admin");
  assertEquals([await sharedBytes(by), await sharedBytes(next)], [0, used]);
  const shown = async (who: Account) => (await membersOf(who)).map(({ id, role }) => [id, role]);
  const after = [[next.id, "owner"], [idOf(by), "admin"], [other.id, "editor"]];
  assertEquals((await shown(next)).toSorted(), after.toSorted());
  assertEquals((await shown(next)).map(([id]) => id).sort(), before.map(({ id }) => id).sort());
  // The former owner is an admin like others: also for a request that has succeeded before.
  for (const id of [next.id, other.id, idOf(by)]) {
    assertEquals(assertRefused(await transfer(by, id), "FORBIDDEN_SCOPE"), { role: "owner" });
  }
  assertEquals((await transfer(next, next.id)).status, 200, "the owner is the owner already");
  assertEquals(
    assertRefused(await by.request("DELETE", "/project?confirm=My%20project"), "FORBIDDEN_SCOPE"),
    { role: "owner" },
  );
  assertRefused(await next.request("DELETE", `/project/members/${next.id}`), "OWNER_REQUIRED");
  assertEquals((await transfer(next, idOf(by))).status, 200);
  assertEquals(
    (await shown(by)).toSorted(),
    [[idOf(by), "owner"], [next.id, "admin"], [other.id, "editor"]].toSorted(),
  );
  assertEquals([await sharedBytes(by), await sharedBytes(next)], [used, 0]);
  assertEquals((await by.request("DELETE", "/project?confirm=My%20project")).status, 200);
  assertRefused(await next.request("GET", "/files"), "PROJECT_NOT_FOUND");
});

test("a transfer is refused to a guest, a stranger and a banned member, and where the new owner has no room", async () => {
  const by = await owner(service);
  await service.setTier(by.projectId, "free");
  await by.request("POST", "/files", { body: { path: "f.txt", content: "x" } });
  const next = await joined(by, "admin");
  const guest = await invited(by, "guest@example.org", "admin");
  assertRefused(await transfer(by, guest.id), "MEMBER_NOT_FOUND", "transfer_project");
  assertRefused(await transfer(by, NOBODY), "MEMBER_NOT_FOUND", "transfer_project");
  const before = await membersOf(by);
  const own = await next.about(null).createProject("My project");
  assertRefused(await transfer(by, next.id), "PROJECT_NAME_TAKEN", "transfer_project");
  const fill = `insert into filestore.projects (owner_id, name, tier)
    select $1, n::text, 'free' from generate_series(2, $2::integer) n`;
  await service.sql(fill, [idOf(next), ACCOUNT_PROJECTS_MAX]);
  const full = assertRefused(await transfer(by, next.id), "PROJECT_LIMIT_REACHED", "transfer_project");
  assertEquals(full, { limit: ACCOUNT_PROJECTS_MAX });
  await service.sql("delete from filestore.projects where owner_id = $1", [idOf(next)]);
  assertEquals(own.role, "owner");
  const [settings] = await service.sql<{ bytes: string }>(
    "select account_bytes as bytes from filestore.settings",
  );
  try {
    await service.sql("update filestore.settings set account_bytes = 1");
    const details = assertRefused(await transfer(by, next.id), "QUOTA_EXCEEDED", "transfer_project");
    assertEquals(details, { limitBytes: 1, account: true });
  } finally {
    await service.sql("update filestore.settings set account_bytes = $1", [settings?.bytes ?? null]);
  }
  const ban = "update auth.users set banned_until = $2::timestamptz where id = $1";
  await service.sql(ban, [idOf(next), "2100-01-01"]);
  assertRefused(await transfer(by, next.id), "MEMBER_NOT_FOUND", "transfer_project");
  await service.sql(ban, [idOf(next), null]);
  assertEquals(await membersOf(by), before, "a refusal changes nothing");
  assertEquals((await transfer(by, next.id)).status, 200);
});

test("of two transfers at the same time one is done, whatever their order", async () => {
  const by = await owner(service);
  const [one, two] = [await joined(by, "viewer"), await joined(by, "viewer")];
  const statuses = await Promise.all([transfer(by, one.id), transfer(by, two.id)]);
  assertEquals(statuses.map(({ status }) => status).sort(), [200, 403]);
  assertEquals((await membersOf(by)).filter(({ role }) => role === "owner").length, 1);
});

test("a project that the operator gives away is closed to its former owner, who had received it as a member, too", async () => {
  const by = await owner(service);
  const next = await joined(by, "viewer");
  assertEquals((await transfer(by, next.id)).status, 200);
  const stranger = await signUp(service);
  const administration = new Administration(service.stack.backendUrl, service.stack.secretKey);
  await administration.updateProject(by.projectId, { owner: addressOf(stranger) });
  assertRefused(await next.request("GET", "/files"), "PROJECT_NOT_FOUND");
  assertEquals((await membersOf(stranger.about(by.projectId))).map(({ role }) => role), ["owner", "admin"]);
});

test("a version and its change name the person to people in the project, and never to a key", async () => {
  const by = await owner(service);
  const guest = await joined(by, "editor");
  const write = await guest.request("POST", "/files", { body: { path: "a.md", content: "one" } });
  assertEquals(write.status, 200, write.text);
  const { key } = await service.key(by.projectId);
  const agent = new Files(service, key);
  await agent.append("a.md", "two");
  const account = { id: idOf(guest), email: addressOf(guest) };
  for (const person of [by, guest]) {
    const list = await person.request("GET", "/files/a.md?versions");
    const { versions } = dataOf(list, "get_file_versions", ownersVersionList);
    assertEquals(versions.map((version) => version.account), [undefined, account]);
    const feed = await person.request("GET", "/changes");
    const { changes } = dataOf(feed, "list_changes", ownersChangePage);
    assertEquals(changes.map((change) => change.account), [account, undefined]);
  }
  await service.sql("update filestore.api_keys set scopes = '{admin,read,write}' where project_id = $1", [
    by.projectId,
  ]);
  for (const path of ["/files/a.md?versions", "/changes"]) {
    const { status, text } = await agent.request("GET", path);
    assertEquals(status, 200);
    assert(!text.includes(account.id) && !text.includes(account.email), text);
  }
  await guest.request("DELETE", "/files/a.md");
  await by.request("DELETE", `/project/members/${guest.id}`);
  const left = dataOf(
    await by.request("GET", "/files/a.md?versions"),
    "get_file_versions",
    ownersVersionList,
  );
  assertEquals(left.versions.map(({ operation, account }) => [operation, account?.email]), [
    ["delete", account.email],
    ["append", undefined],
    ["write", account.email],
  ], "who wrote stays, although the person has left");
});
