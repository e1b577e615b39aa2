/** Apps that sign in depend on two settings: the address of the console, and the issuer. */
import { assertEquals } from "@std/assert";
import { ENTRIES } from "../../supabase/functions/api/routes/mod.ts";
import { owner } from "../support/client/accounts.ts";
import { assertRefused } from "../support/client/contract.ts";
import { answerRequest, App, connected, redirectOf, tokensOf } from "../support/client/oauth.ts";
import { privateSuite, test } from "../support/stack/suite.ts";

const ISSUER = "https://files.example.com";
const { service: without } = await privateSuite({ functionVariables: { CONSOLE_URL: "" } });
const { service } = await privateSuite({
  functionVariables: { CONSOLE_URL: "https://console.example.com/files/", OAUTH_ISSUER: ISSUER },
});

test("without the console's address every route for apps is 501, whatever is sent, and no other route", async () => {
  const isForApps = (pattern: string) => /^\/(oauth|connect|\.well-known)(\/|$)/.test(pattern);
  const person = await owner(without);
  for (const { method, pattern } of ENTRIES) {
    if (!isForApps(pattern)) continue;
    const path = pattern.replace(":request", "x");
    for (const headers of [{}, person.headers]) {
      assertRefused(await without.request(null, method, path, { headers }), "OAUTH_UNAVAILABLE");
    }
  }
  assertEquals((await person.request("GET", "/files")).status, 200);
});

test("an issuer that the operator names is in the documents and in each answer to an app", async () => {
  const { body: resource } = await service.request(null, "GET", "/connect/oauth-protected-resource");
  assertEquals(Object(resource).authorization_servers, [ISSUER]);
  const { body: server } = await service.request(null, "GET", "/.well-known/openid-configuration");
  const { issuer, token_endpoint } = Object(server);
  assertEquals([issuer, token_endpoint], [ISSUER, `${service.baseUrl}/oauth/token`]);
  const [person, app] = [await owner(service), await App.register(service)];
  const refused = new URL((await app.authorize({ scope: "x" })).headers.get("location") ?? "");
  assertEquals(refused.searchParams.get("iss"), ISSUER);
  const sent = new URL((await app.authorize()).headers.get("location") ?? "");
  assertEquals(sent.origin + sent.pathname, "https://console.example.com/files/authorize");
  const answered = redirectOf(await answerRequest(person, await app.request())).searchParams;
  assertEquals(answered.get("iss"), ISSUER);
  const { access_token } = tokensOf(await app.exchange(answered.get("code") ?? ""));
  assertEquals((await connected(service, access_token).rpc("tools/list")).status, 200);
});
