/**
 * Random requests from /openapi.json never cause a 5xx, and the document describes each answer. A failure names its
 * seed; TEST_SEED=… sends the same requests again.
 */
import { assertEquals } from "@std/assert";
import { z } from "zod";
import { type Account, owner } from "../support/client/accounts.ts";
import { administrator } from "../support/client/erasure.ts";
import { App } from "../support/client/oauth.ts";
import type { ProjectFiles } from "../support/client/files.ts";
import { SEED } from "../support/random.ts";
import { figures, IS_BRIEF, IS_LONG } from "../support/runner/long.ts";
import { suite, test } from "../support/stack/suite.ts";
import { FILES, type RandomRequest, RandomRequests } from "./random_requests.ts";

const { service, files } = await suite();

const REQUESTS = IS_LONG ? 50_000 : IS_BRIEF ? 250 : 1500;
/** Further rounds for operations that have not succeeded by then. */
const MORE_ROUNDS = IS_LONG ? 5000 : 500;
/** The status of a search by meaning if no model is configured. */
const NO_MODEL = 501;

const made = z.object({
  data: z.object({ id: z.uuid(), key: z.string().optional(), url: z.url().optional() }),
});
/**
 * These need the name of the project or account that they delete, a method of MCP, what an app was given once, the id of
 * a member or an invitation, or the address of a host.
 */
const UNMET = [
  ..."deleteProject deleteAccount mcp connect issueTokens getAppRequest answerAppRequest".split(" "),
  ..."changeMember removeMember transferProject acceptInvitation declineInvitation".split(" "),
  "createWebhook",
];
/** A redirect is the success of a request that a browser sends. */
const SUCCESSES = [200, 201, 302];
/** Links of each kind created at the beginning. Random requests create hardly any links for writing. */
const LINKS = 20;

/**
 * The state for the requests: every file exists and contains the text that edits search for, the known links are
 * unused, the known branch is open, and the account is new and has sent no request.
 */
async function prepared(own: ProjectFiles, generator: RandomRequests, links: number): Promise<Account> {
  for (const path of FILES) await own.write(path, "one");
  generator.tokens.length = 0;
  for (let count = 0; count < links; count++) {
    for (const purpose of ["read", "write"]) {
      const answer = await own.request("POST", "/links", { body: { path: "a.txt", for: purpose } });
      remember(generator, answer.body);
    }
  }
  generator.branch = crypto.randomUUID();
  await own.request("POST", "/branches", { body: { name: generator.branch, directory: "dir" } });
  const account = await owner(service);
  generator.keyIds.length = 0;
  generator.keyIds.push((await account.createKey()).id);
  const webhook = { body: { url: "https://93.184.215.14/" } };
  const { data } = made.parse((await account.request("POST", "/project/webhooks", webhook)).body);
  generator.webhookIds.splice(0, Infinity, data.id);
  return account;
}

/** Routes about keys have a project of their own. */
function credentials(
  { credentials: taken }: RandomRequest,
  key: string,
  account: Account,
  appToken: string,
): Record<string, string> {
  if (taken.length === 0) return {};
  if (taken[0] === "app") return { authorization: `Bearer ${appToken}` };
  if (taken[0] === "apiKey") return { "x-api-key": key };
  if (taken[0] === "secretKey") return { authorization: `Bearer ${service.stack.secretKey}` };
  return account.headers;
}

/** Remembers ids and tokens from an answer for later requests. */
function remember(generator: RandomRequests, answer: unknown): void {
  const created = made.safeParse(answer);
  if (!created.success) return;
  const { id, key, url } = created.data.data;
  if (key !== undefined) generator.keyIds.push(id);
  if (url === undefined) return;
  generator.linkIds.push(id);
  generator.tokens.push(url.slice(url.lastIndexOf("/") + 1));
}

test(`${REQUESTS} requests made from /openapi.json, seed ${SEED}: no 5xx, and every answer is documented`, async () => {
  const { body: document } = await service.request(null, "GET", "/openapi.json");
  const generator = new RandomRequests(document, SEED);
  const own = await files();
  const { key } = await administrator(service, own.project.id);
  let account = await prepared(own, generator, LINKS);
  const app = await App.register(service);
  generator.clientId = app.clientId;
  const { access_token: appToken } = await app.connect(await owner(service));
  const statuses = new Map<string, Set<number>>();
  let index = 0;
  const send = async (operation?: string) => {
    const request = generator.next(operation);
    const { operationId, method, path, headers, body } = request;
    const context = `seed ${SEED}, request ${index++}: ${describe(request)}`;
    const answer = await service.request(null, method, path, {
      headers: { ...credentials(request, key, account, appToken), ...headers },
      body,
    }).catch((error) => {
      throw new Error(context, { cause: error });
    });
    if (answer.status >= 500 && answer.status !== NO_MODEL) throw new Error(`${answer.text}\n${context}`);
    statuses.set(operationId, (statuses.get(operationId) ?? new Set()).add(answer.status));
    remember(generator, answer.body);
  };
  while (index < REQUESTS) await send();
  const withoutSuccess = () =>
    generator.operationIds.filter((id) =>
      !UNMET.includes(id) && !SUCCESSES.some((status) => statuses.get(id)?.has(status))
    );
  // Operations that have not succeeded yet are tried more often. By now, most files and links may have been deleted.
  for (let more = 0; !IS_BRIEF && more < MORE_ROUNDS && withoutSuccess().length > 0; more++) {
    for (const id of withoutSuccess()) {
      account = await prepared(own, generator, 1);
      await send(id);
    }
    await send();
  }
  figures(
    [...statuses].map(([id, seen]) => `${id} ${[...seen].sort((a, b) => a - b).join(" ")}`).sort().join("; "),
  );
  if (IS_BRIEF) return;
  const [first = ""] = generator.operationIds;
  assertEquals(withoutSuccess(), [], `every operation succeeds at times, as ${first} does`);
});

function describe({ method, path, headers, body }: RandomRequest): string {
  const text = body && new TextDecoder().decode(body).slice(0, 500);
  return `${method} ${path.slice(0, 500)} ${JSON.stringify(headers)} ${JSON.stringify(text ?? null)}`;
}
