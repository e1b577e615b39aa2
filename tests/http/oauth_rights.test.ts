/** What an app may do: at /connect, what a key with its rights may do at /mcp; anywhere else, nothing. */
import { assert, assertEquals } from "@std/assert";
import { ENTRIES } from "../../supabase/functions/api/routes/mod.ts";
import { TOOLS } from "../../supabase/functions/api/mcp/tools/mod.ts";
import { owner } from "../support/client/accounts.ts";
import { rateOf } from "../support/client/contract.ts";
import { Agent, ERAS } from "../support/client/mcp.ts";
import { answerRequest, App, challengeOf, connected, REDIRECT_URI } from "../support/client/oauth.ts";
import { NO_OBJECTS, trafficOf } from "../support/client/traffic.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service } = await suite();
const ID = "d0000000-0000-4000-8000-000000000000";

/** For each route: the answer to an app's token, and to that of a person, who names a project. */
const ROUTES: Readonly<Record<string, readonly [app: string, person: string]>> = {
  "GET /health": ["200", "200"],
};

/** Status, and the code or error of a failure. */
async function answerTo(route: string, headers: Record<string, string>): Promise<string> {
  const [method = "", pattern = ""] = route.split(" ");
  const path = pattern.replace("/*", "/none.txt").replace(":id", ID).replace(/:\w+/, "none");
  const { status, body } = await service.request(null, method, path, { headers });
  const { error } = Object(body);
  return [status, error?.code ?? error].filter((part) => part !== undefined).join(" ");
}

test("each route answers an app's token and a person's as this table says", async () => {
  const person = await owner(service);
  const { access_token } = await (await App.register(service)).connect(person);
  const found: Record<string, readonly [string, string]> = {};
  for (const { method, pattern } of ENTRIES) {
    const route = `${method} ${pattern}`;
    found[route] = [
      await answerTo(route, { authorization: `Bearer ${access_token}` }),
      await answerTo(route, person.headers),
    ];
  }
  assertEquals(found, ROUTES);
});
