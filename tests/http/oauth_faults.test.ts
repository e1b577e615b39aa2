/** Faults between the function and the database while an app signs in: no step happens twice, and none is lost. */
import { assertEquals } from "@std/assert";
import { owner } from "../support/client/accounts.ts";
import { type Answer, assertRefused } from "../support/client/contract.ts";
import { answerRequest, App, connected, faultOf, redirectOf, tokensOf } from "../support/client/oauth.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service } = await suite();
const person = await owner(service);
const app = await App.register(service);

async function works(accessToken: string): Promise<void> {
  assertEquals((await connected(service, accessToken).rpc("tools/list")).status, 200);
}

test("an answer of the database that is lost once changes nothing: consent, exchange, refresh, revocation", async () => {
  const { proxy } = service;
  const request = await app.request();
  const consented = await proxy.losing("filestore_account_consent", () => answerRequest(person, request));
  const code = redirectOf(consented).searchParams.get("code") ?? "";
  const first = tokensOf(await proxy.losing("filestore_app_exchange", () => app.exchange(code)));
  await works(first.access_token);
  const second = tokensOf(
    await proxy.losing("filestore_app_refresh", () => app.refresh(first.refresh_token)),
  );
  await works(second.access_token);
  await service.sql(
    "update filestore.app_tokens set used_at = used_at - interval '29 seconds' where used_at is not null",
  );
  tokensOf(await proxy.losing("filestore_app_refresh", () => app.refresh(first.refresh_token)));
  await works(second.access_token);
  const revoked = await proxy.losing("filestore_app_revoke", () => app.revoke(second.refresh_token));
  assertEquals(revoked.status, 200);
  assertEquals((await connected(service, second.access_token).rpc("tools/list")).status, 401);
});

/** Sends a request while every call to the database fails. */
async function whileDown(send: () => Promise<Answer>): Promise<Answer> {
  service.proxy.hook = () => new Response("<html>502 Bad Gateway</html>", { status: 502 });
  try {
    return await send();
  } finally {
    service.proxy.hook = null;
  }
}

test("while the database is down each step says that it is for a while, and works later", async () => {
  const request = await app.request();
  const consent = () => answerRequest(person, request);
  assertRefused(
    await whileDown(() => person.request("GET", `/oauth/requests/${request}`)),
    "SERVICE_UNAVAILABLE",
  );
  assertRefused(await whileDown(consent), "SERVICE_UNAVAILABLE");
  const code = redirectOf(await consent()).searchParams.get("code") ?? "";
  assertEquals(faultOf(await whileDown(() => app.exchange(code))), [503, "temporarily_unavailable"]);
  const { refresh_token, access_token } = tokensOf(await app.exchange(code));
  assertEquals(faultOf(await whileDown(() => app.refresh(refresh_token))), [503, "temporarily_unavailable"]);
  assertRefused(
    await whileDown(() => connected(service, access_token).rpc("tools/list")),
    "SERVICE_UNAVAILABLE",
  );
  const next = tokensOf(await app.refresh(refresh_token));
  assertEquals(
    faultOf(await whileDown(() => app.revoke(next.refresh_token))),
    [503, "temporarily_unavailable"],
  );
  await works(access_token);
  assertEquals((await whileDown(() => app.authorize())).status, 302, "needs no database");
});
