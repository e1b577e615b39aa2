/** Memory for bodies: a body is charged for arrived bytes, no project takes more than its part, and no wait is endless. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { ApiError } from "../../../supabase/functions/api/errors.ts";
import { BODY_BUDGET_BYTES, BODY_PROJECT_BYTES } from "../../../supabase/functions/api/limits.ts";
import { type Body, BodyBudget } from "../../../supabase/functions/api/runtime/body_budget.ts";

const WAIT = 60_000;
const signal = new AbortController().signal;
const open = (budget: BodyBudget, project: string, most: number | null, wait = WAIT) =>
  budget.open(project, most, wait, signal);
const turn = () => new Promise((resolve) => setTimeout(resolve, 0));
const nothing = () => turn().then(() => null);

Deno.test("BodyBudget: a body that was announced and does not come holds nothing that another project could want", async () => {
  const budget = new BodyBudget(40, 10);
  const announced = await Promise.all([..."abcdef"].map((project) => open(budget, project, 32)));
  assertEquals(budget.heldBytes, 0);
  const other = await open(budget, "other", 10);
  assertEquals(other.hold(10), undefined);
  assertEquals(budget.heldBytes, 10);
  for (const body of [other, ...announced]) body.release();
  assertEquals(budget.heldBytes, 0);
});

Deno.test("BodyBudget: while others trickle and announce, a neighbour's 100 KB is admitted at once, chunk by chunk", async () => {
  const budget = new BodyBudget(BODY_BUDGET_BYTES, BODY_PROJECT_BYTES);
  const attackers = Array.from({ length: 20 }, (_, index) => `attacker ${index}`);
  const attacks: Body[] = [];
  for (const attacker of attackers) {
    for (const most of [null, 32 * 1024 * 1024]) {
      const body = await Promise.race([open(budget, attacker, most), nothing()]);
      // A project's second body waits only for its first.
      if (!body) continue;
      attacks.push(body);
      assertEquals(body.hold(100), undefined);
    }
  }
  assert(attacks.length >= attackers.length);
  const neighbour = await Promise.race([open(budget, "neighbour", 100 * 1024), nothing()]);
  if (!neighbour) throw new Error("the neighbour waits");
  for (let arrived = 16 * 1024; arrived <= 100 * 1024; arrived += 16 * 1024) {
    assertEquals(neighbour.hold(arrived), undefined, `${arrived} bytes wait`);
    for (const attack of attacks) attack.hold(arrived / 1024);
  }
  for (const body of [neighbour, ...attacks]) body.release();
});

Deno.test("BodyBudget: the bodies of one project could never become more than its part; the next one waits for them alone", async () => {
  const budget = new BodyBudget(40, 10);
  const first = await open(budget, "a", 6);
  let isOpen = false;
  const second = open(budget, "a", 6).then((body) => (isOpen = true, body));
  const other = await open(budget, "b", 10);
  assertEquals([first.hold(6), other.hold(10)], [undefined, undefined]);
  await turn();
  assertEquals(isOpen, false);
  first.release();
  (await second).release();
  other.release();
});

Deno.test("BodyBudget: a larger body counts as its project's part", async () => {
  const budget = new BodyBudget(40, 10);
  const body = await open(budget, "a", 1000);
  assertEquals(body.hold(1000), undefined);
  assertEquals(budget.heldBytes, 10);
  body.release();
  body.release();
  assertEquals(budget.heldBytes, 0);
});

Deno.test("BodyBudget: of bodies of unknown length a project has three; one at a time may become longer than a third", async () => {
  const budget = new BodyBudget(120, 30);
  const unknown = () => open(budget, "a", null);
  const [one, two, three] = [await unknown(), await unknown(), await unknown()];
  for (const body of [one, two, three]) assertEquals(body.hold(10), undefined);
  let isLonger = false;
  const longer = one.hold(11)?.then(() => isLonger = true);
  await turn();
  await assertRejects(async () => await two.hold(11), ApiError);
  two.release();
  await turn();
  assertEquals(isLonger, false);
  three.release();
  await longer;
  assertEquals(budget.heldBytes, 11);
  assertEquals(one.hold(1000), undefined);
  assertEquals(budget.heldBytes, 30);
  one.release();
  (await open(budget, "a", 30)).release();
  assertEquals(budget.heldBytes, 0);
});

Deno.test("BodyBudget: bodies that are all half there do not wait for each other: each gets all that it lacks, in order", async () => {
  const budget = new BodyBudget(40, 10);
  const bodies = await Promise.all([..."abcdef"].map((project) => open(budget, project, 10)));
  // While few bytes have arrived, the bodies hold only those.
  for (const body of bodies.slice(0, 5)) assertEquals(body.hold(2), undefined);
  assertEquals(budget.heldBytes, 10);
  const done: number[] = [];
  await Promise.all(bodies.map(async (body, index) => {
    await body.hold(6);
    assert(budget.heldBytes <= 40, `${budget.heldBytes}`);
    await turn();
    assertEquals(body.hold(10), undefined);
    done.push(index);
    body.release();
  }));
  assertEquals(done, [0, 1, 2, 3, 4, 5]);
  assertEquals(budget.heldBytes, 0);
});

Deno.test("BodyBudget refuses with 503 what had to wait too long, and gives everything back", async () => {
  const budget = new BodyBudget(20, 10);
  const [one, two] = [await open(budget, "a", 10), await open(budget, "b", 10)];
  const three = await open(budget, "c", 10, 0);
  assertEquals([one.hold(10), await two.hold(10)], [undefined, undefined]);
  const refused = await assertRejects(async () => await three.hold(1), ApiError);
  assertEquals([refused.code, refused.headers?.["Retry-After"]], ["SERVICE_UNAVAILABLE", "2"]);
  await assertRejects(() => open(budget, "a", 10, 0), ApiError);
  for (const body of [one, two, three]) body.release();
  assertEquals(budget.heldBytes, 0);
  (await open(budget, "a", 10)).release();
});

Deno.test("BodyBudget lets go of a request that is aborted", async () => {
  const budget = new BodyBudget(20, 10);
  const [one, two] = [await open(budget, "a", 10), await open(budget, "b", 10)];
  one.hold(10);
  await two.hold(10);
  const controller = new AbortController();
  const third = await budget.open("c", 10, WAIT, controller.signal);
  const waiting = third.hold(5);
  controller.abort(new Error("gone"));
  await assertRejects(async () => await waiting, Error, "gone");
  for (const body of [one, two, third]) body.release();
  assertEquals(budget.heldBytes, 0);
});

Deno.test("BodyBudget never holds more than the total, nor a project more than its part, and serves everybody", async () => {
  const steps = fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 5 });
  const body = fc.record({ project: fc.constantFrom(..."abcdef"), steps });
  const bodies = fc.array(body, { minLength: 1, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(bodies, async (bodies) => {
      const budget = new BodyBudget(40, 10);
      const held = new Map<string, number>();
      await Promise.all(bodies.map(async ({ project, steps }) => {
        const most = steps.reduce((sum, step) => sum + step, 0);
        const body = await open(budget, project, most);
        let bytes = 0;
        for (const step of steps) {
          await body.hold(bytes += step);
          const own = Math.min(step, Math.max(0, 10 - (bytes - step)));
          held.set(project, (held.get(project) ?? 0) + own);
          assert((held.get(project) ?? 0) <= 10 && budget.heldBytes <= 40);
          await turn();
        }
        held.set(project, (held.get(project) ?? 0) - Math.min(bytes, 10));
        body.release();
      }));
      assertEquals(budget.heldBytes, 0);
    }),
    { numRuns: 50 },
  );
});
