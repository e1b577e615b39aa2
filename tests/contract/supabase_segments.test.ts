import { assertEquals } from "@std/assert";
import { BUCKET, SupabaseSegments } from "../../supabase/functions/api/adapters/supabase_segments.ts";
import { suite } from "../support/stack/suite.ts";
import { segmentsContract } from "./segments.ts";
import { client, silentParts, unreachableClient } from "./supabase.ts";

const { service: { stack } } = await suite();
const supabase = client(stack.backendUrl, stack.secretKey);
const bucket = supabase.storage.from(BUCKET);

segmentsContract("SupabaseSegments", {
  open: () => new SupabaseSegments(() => supabase, silentParts()),
  unreachable: () => new SupabaseSegments(unreachableClient, silentParts()),
  async tamper(name, bytes) {
    const { error } = bytes === null
      ? await bucket.remove([name])
      : await bucket.upload(name, new Uint8Array(bytes), { upsert: true });
    assertEquals(error, null);
  },
});
