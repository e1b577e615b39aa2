/** Runs, branches and the activity name people: to people in the project, and to nobody else. */
import { assert, assertEquals } from "@std/assert";
import { branch, branchDetails, branchPage } from "../../supabase/functions/api/contract/branches.ts";
import { RUN_VERSIONS_NAMED_MAX } from "../../supabase/functions/api/limits.ts";
import { type Account, claimsOf, owner } from "../support/client/accounts.ts";
import { activityList, dataOf, runDetails, runPage } from "../support/client/contract.ts";
import { addressOf, joined } from "../support/client/members.ts";
import { Files } from "../support/client/files.ts";
import { App, connected } from "../support/client/oauth.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service } = await suite();

const RUN = "nightly-42";
const personOf = (who: Account) => ({ id: String(claimsOf(who.token)["sub"]), email: addressOf(who) });

/** A project whose guest has written in a run, and created and merged a branch, beside an agent with a key. */
async function sample() {
  const by = await owner(service);
  const guest = await joined(by, "editor");
  const headers = { "x-run-id": RUN };
  const { id: keyId, key } = await service.key(by.projectId);
  const agent = new Files(service, key);
  await guest.request("POST", "/files", { body: { path: "a.md", content: "one" }, headers });
  await agent.request("POST", "/files", { body: { path: "b.md", content: "two" }, headers });
  for (const who of [guest, agent]) {
    const name = who === guest ? "of-guest" : "of-agent";
    dataOf(await who.request("POST", "/branches", { body: { name } }), "create_branch", branch);
    const merge = await who.request("POST", `/branches/${name}/merge`, { body: { dryRun: false } });
    assertEquals(merge.status, 200, merge.text);
  }
  await guest.request("POST", "/branches", { body: { name: "open" } });
  return { by, guest, agent, keyId };
}

/** What `who` reads about people: of the runs, the run, the branches, one branch, and the activity. */
async function namesFor(who: Account) {
  const runs = dataOf(await who.request("GET", "/runs"), "list_runs", runPage).runs;
  const run = dataOf(await who.request("GET", `/runs/${RUN}`), "get_run", runDetails);
  const { branches } = dataOf(await who.request("GET", "/branches?limit=10"), "list_branches", branchPage);
  const one = dataOf(await who.request("GET", "/branches/of-guest"), "get_branch", branchDetails);
  const { activity } = dataOf(await who.request("GET", "/project/activity"), "list_activity", activityList);
  const { createdBy, mergedBy } = one;
  return {
    runs: runs.map(({ runId, accounts }) => [runId, accounts]).filter(([runId]) => runId === RUN),
    run: run.accounts,
    branches: branches.map(({ name, createdBy, mergedBy }) => ({ name, createdBy, mergedBy })),
    branch: { createdBy, mergedBy },
    activity: activity.filter(({ path }) => /^[ab]\.md$/.test(path)).map((
      { path, account },
    ) => [path, account]),
  };
}

test("runs, branches and the activity name the person to people in the project, until the account is gone", async () => {
  const { by, guest } = await sample();
  const person = personOf(guest);
  const creator = { account: person.id, email: person.email };
  const agents = { keyName: "test" };
  const expected = {
    runs: [[RUN, [person]]],
    run: [person],
    branches: [
      { name: "open", createdBy: creator, mergedBy: undefined },
      { name: "of-agent", createdBy: agents, mergedBy: agents },
      { name: "of-guest", createdBy: creator, mergedBy: creator },
    ],
    branch: { createdBy: creator, mergedBy: creator },
    activity: [["b.md", undefined], ["a.md", person]],
  };
  for (const who of [by, guest]) assertEquals(await namesFor(who), expected);
  const made = await guest.request("POST", "/branches", { body: { name: "second" } });
  assertEquals(dataOf(made, "create_branch", branch).createdBy, creator, "the answer to a creation, too");
  const changed = await by.request("PATCH", "/branches/second", { body: { state: "closed" } });
  assertEquals(dataOf(changed, "change_branch", branch).createdBy, creator, "and to a change");
  await by.request("DELETE", `/project/members/${guest.id}`);
  assertEquals((await namesFor(by)).run, [person], "who wrote stays, although the person has left");
  await service.sql("delete from auth.users where id = $1", [person.id]);
  const gone = { account: person.id };
  assertEquals({ ...await namesFor(by), branches: [] }, {
    runs: [[RUN, []]],
    run: [],
    branches: [],
    branch: { createdBy: gone, mergedBy: gone },
    activity: [["b.md", undefined], ["a.md", undefined]],
  });
});

test("no key learns from runs, branches and the activity who a person is, not even one with the scope admin", async () => {
  const { by, guest, agent, keyId } = await sample();
  await service.sql("update filestore.api_keys set scopes = '{admin,read,write}' where id = $1", [keyId]);
  for (
    const path of [
      "/runs",
      `/runs/${RUN}`,
      "/branches",
      "/branches/of-guest",
      "/project/activity",
      "/changes",
    ]
  ) {
    const { status, text } = await agent.request("GET", path);
    assertEquals(status, 200, path);
    assert(!text.includes(addressOf(guest)) && !text.includes("accounts"), text);
  }
  const created = await agent.request("POST", "/branches", { body: { name: "again" } });
  assertEquals(dataOf(created, "create_branch", branch).createdBy, { keyName: "test" });
  assertEquals((await namesFor(by)).run, [personOf(guest)]);
});

test("a run names who let the app in that wrote, also beside many versions that another person wrote", async () => {
  const by = await owner(service);
  const guest = await joined(by, "editor");
  const app = await App.register(service);
  const agent = connected(service, (await app.connect(guest)).access_token);
  const headers = { "x-run-id": RUN };
  const write = { name: "write_file", arguments: { path: "app.md", content: "x" } };
  const written = await agent.rpc("tools/call", write, { headers });
  assertEquals(written.status, 200, written.text);
  const shown = async () =>
    dataOf(await by.request("GET", "/runs"), "list_runs", runPage).runs.map(({ accounts }) => accounts);
  assertEquals(await shown(), [[personOf(guest)]]);
  const operations = Array.from(
    { length: RUN_VERSIONS_NAMED_MAX },
    (_, n) => ({ op: "write", path: `many/${n}.md`, content: "x" }),
  );
  const batch = await by.request("POST", "/batch", { body: { operations }, headers });
  assertEquals(batch.status, 200, batch.text);
  const both = [personOf(by), personOf(guest)];
  assertEquals(await shown(), [both.toSorted((a, b) => a.email < b.email ? -1 : 1)]);
});
