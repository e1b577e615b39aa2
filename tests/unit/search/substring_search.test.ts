/** Finds the same substrings as String.prototype.indexOf, in linear time. */
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { substringSearch } from "../../../supabase/functions/api/search/substring_search.ts";
import { assertNoHang } from "../../support/stack/processes.ts";

const text = fc.string({ unit: fc.constantFrom("a", "b", "é"), maxLength: 300 });
const unit = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 4 });
const periodic = fc.tuple(unit, fc.nat(60)).map(([unit, times]) => unit.repeat(times));

Deno.test("substringSearch equals indexOf, for strings of every length, however often their beginning comes", () => {
  fc.assert(
    fc.property(text, periodic, periodic, text, fc.nat(50), (before, one, other, after, from) => {
      const wanted = one + other;
      for (
        const whole of [before + wanted + after, before + one + after + other, one + one + other + other]
      ) {
        assertEquals(substringSearch(wanted)(whole, from), whole.indexOf(wanted, from));
      }
    }),
    { numRuns: 3000 },
  );
});

Deno.test("substringSearch takes linear time where the engine's own search takes quadratic", async () => {
  const whole = "a".repeat(8 * 1024 * 1024);
  const half = "a".repeat(25_000);
  const wanted = `${half}b${half}`;
  await assertNoHang(() => assertEquals(substringSearch(wanted)(whole, 0), -1), "half b half");
});
