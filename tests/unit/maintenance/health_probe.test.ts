import { assertEquals } from "@std/assert";
import { HealthProbe } from "../../../supabase/functions/api/maintenance/health_probe.ts";
import { HEALTH_PROBE_INTERVAL_MILLISECONDS } from "../../../supabase/functions/api/limits.ts";
import { silent } from "../../support/stack/supabase_client.ts";
import { ManualClock } from "../../support/manual_clock.ts";

/** A probe whose parts listed in `broken` fail. */
function probe() {
  const clock = new ManualClock();
  const broken = new Set<string>();
  const counts = { database: 0, storage: 0 };
  const ask = (part: "database" | "storage") => ({
    probe: () => (counts[part]++, broken.has(part) ? Promise.reject(new Error("down")) : Promise.resolve()),
  });
  const health = new HealthProbe(
    () => ({ metadata: ask("database"), segments: ask("storage") }),
    clock,
    silent,
  );
  return { health, clock, broken, counts };
}

Deno.test("HealthProbe: however many ask at once, one probe serves them", async () => {
  const { health, counts } = probe();
  const answers = await Promise.all(Array.from({ length: 1000 }, () => health.failing()));
  assertEquals([new Set(answers), counts], [new Set([null]), { database: 1, storage: 1 }]);
});

Deno.test("HealthProbe probes at most once in its interval, and again after it", async () => {
  const { health, clock, broken, counts } = probe();
  assertEquals(await health.failing(), null);
  broken.add("storage");
  clock.advance(HEALTH_PROBE_INTERVAL_MILLISECONDS - 1);
  assertEquals([await health.failing(), counts.storage], [null, 1]);
  clock.advance(1);
  assertEquals([await health.failing(), counts.storage], ["storage", 2]);
  broken.add("database");
  clock.advance(HEALTH_PROBE_INTERVAL_MILLISECONDS);
  assertEquals(await health.failing(), "database");
  broken.clear();
  clock.advance(HEALTH_PROBE_INTERVAL_MILLISECONDS);
  assertEquals([await health.failing(), counts], [null, { database: 4, storage: 4 }]);
});
