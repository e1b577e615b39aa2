import { assertEquals } from "@std/assert";
import { wantsRaw } from "../../../supabase/functions/api/http/accept.ts";

const BYTES = [
  " application/octet-stream ",
  "APPLICATION/OCTET-STREAM",
  "text/html,application/octet-stream",
  "application/octet-stream ; q=0.1",
  "application/octet-stream;version=1;q=0.1",
  "application/octet-stream;q=nonsense",
  "application/octet-stream, application/json;q=0.5",
  "application/json;q=0, application/octet-stream;q=0.1",
  "application/octet-stream;q=0, application/octet-stream",
];

const JSON_INSTEAD = [
  "application/*",
  "application/octet-stream; q=0.0",
  "application/octet-stream;q=0, */*",
  "application/octet-stream-x",
  "xapplication/octet-stream",
  "octet-stream",
  "text/html;x=application/octet-stream",
  "application/octet-stream;q=0.4, application/json;q=0.5",
];

Deno.test("wantsRaw where the bytes are named, and preferred to JSON", () => {
  for (const accept of BYTES) assertEquals(wantsRaw(accept), true, accept);
});

Deno.test("wantsRaw is false for anything else", () => {
  for (const accept of JSON_INSTEAD) assertEquals(wantsRaw(accept), false, accept);
  assertEquals(wantsRaw(null), false);
});
