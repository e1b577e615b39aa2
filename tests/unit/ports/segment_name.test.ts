import { assertEquals } from "@std/assert";
import {
  dayOfFolder,
  segmentFolder,
  segmentName,
} from "../../../supabase/functions/api/ports/segment_name.ts";

Deno.test("segmentName files a segment under its project and UTC day", () => {
  assertEquals(segmentName("p", new Date("2025-01-02T23:59:59.999Z"), "i"), "p/20250102/i");
  assertEquals(segmentName("p", new Date("2025-01-02T23:00:00-05:00"), "i"), "p/20250103/i");
});

Deno.test("dayOfFolder is the day of a segment folder's last part, and of no other text", () => {
  const [, folder = ""] = segmentFolder("p", new Date("2025-01-02")).split("/");
  assertEquals(dayOfFolder(folder), "2025-01-02");
  for (const other of ["", "2025-01-02", "2025010", "202501020", "2025010x"]) {
    assertEquals(dayOfFolder(other), undefined, other);
  }
});
