/** Returns a constant, but imports what this service imports: the fair baseline for the start-up time. */
import { createClient } from "@supabase/supabase-js";
import { Hono } from "hono";
import { z } from "zod";

const answer = z.object({ success: z.boolean() });
const client = createClient(Deno.env.get("SUPABASE_URL") ?? "", Deno.env.get("SUPABASE_ANON_KEY") ?? "", {
  auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
});

const app = new Hono();
app.all("*", (c) => c.json(answer.parse({ success: client !== undefined })));
Deno.serve(app.fetch);
