/** A function that answers a constant: what any function costs. */
import { Hono } from "hono";

const app = new Hono();
app.all("*", (c) => c.json({ success: true }));
Deno.serve(app.fetch);
