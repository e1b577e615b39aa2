/** Apps that sign in: discovery, registration, consent, tokens, and their ends. */
import { assertEquals } from "@std/assert";
import { owner } from "../support/client/accounts.ts";
import { App, connected, tokensOf } from "../support/client/oauth.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service } = await suite();

test("an app that a person lets in writes and reads at /connect, and goes on with new tokens", async () => {
  const person = await owner(service);
  const app = await App.register(service);
  const first = await app.connect(person);
  assertEquals([first.expires_in, first.scope], [3600, "files:read files:write"]);
  await connected(service, first.access_token).call("write_file", { path: "a.txt", content: "by an app" });
  const second = tokensOf(await app.refresh(first.refresh_token));
  const text = await connected(service, second.access_token).call("read_file", { path: "a.txt" });
  assertEquals(text.includes("by an app"), true, text);
});
