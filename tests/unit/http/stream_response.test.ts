import { assertEquals, assertRejects } from "@std/assert";
import { streamResponse } from "../../../supabase/functions/api/http/stream_response.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** Yields the texts, then throws if `fails`; records what was consumed. */
async function* pieces(texts: readonly string[], fails: boolean, consumed: string[] = []) {
  for (const text of texts) {
    consumed.push(text);
    yield bytes(text);
  }
  if (fails) throw new Error("the segment is out of reach");
}

Deno.test("streamResponse throws a failure of the first piece: the headers are not sent yet", async () => {
  await assertRejects(() => streamResponse(pieces([], true), false, {}), Error, "out of reach");
});

Deno.test("streamResponse aborts the body at a later failure, and throws it where the body is short", async () => {
  const response = await streamResponse(pieces(["a"], true), false, {});
  await assertRejects(() => response.text(), Error, "out of reach");
  await assertRejects(() => streamResponse(pieces(["a"], true), true, {}), Error, "out of reach");
});

Deno.test("streamResponse produces a piece only when it is read, and none after the client has gone", async () => {
  const consumed: string[] = [];
  const response = await streamResponse(pieces(["a", "b", "c"], false, consumed), false, {});
  assertEquals(consumed, ["a"]);
  const reader = response.body?.getReader();
  await reader?.read();
  assertEquals(consumed, ["a"]);
  await reader?.read();
  await reader?.cancel();
  assertEquals(consumed, ["a", "b"]);
});
