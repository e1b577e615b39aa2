/**
 * The bare back-end calls, sent from inside a function, which shows the cost of the path through a function. Only for
 * callers with the secret key.
 */
import { createMcpHandler, Server } from "@modelcontextprotocol/server";
import { createClient } from "@supabase/supabase-js";
import { Hono } from "hono";
import { Bare } from "./baselines.ts";

const secretKeys: readonly string[] = [
  ...Object.values<string>(JSON.parse(Deno.env.get("SUPABASE_SECRET_KEYS") ?? "{}")),
  Deno.env.get("SUPABASE_SERVICE_ROLE_KEY") ?? "",
].filter((key) => key !== "");
const bare = new Bare(createClient(Deno.env.get("SUPABASE_URL") ?? "", secretKeys[0] ?? "", {
  auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
}));

/** Deployed, the first segment of the path is the function's name. */
const app = new Hono().basePath("/:function");
app.use(async (c, next) => {
  if (!secretKeys.includes(c.req.header("apikey") ?? "")) return c.text("the secret key is needed", 401);
  return await next();
});
app.post("/write/:row", async (c) => {
  await bare.write(Number(c.req.param("row")), new Uint8Array(await c.req.arrayBuffer()));
  return c.json({ success: true });
});
app.get("/read/:row", async (c) => c.json({ content: await bare.read(Number(c.req.param("row"))) }));
app.get("/payload/:name", async (c) => c.json(await bare.payload(c.req.param("name"))));
app.post("/call/:name", async (c) => c.json(await bare.call(c.req.param("name"), await c.req.json())));
app.post("/commit", async (c) => c.json(await bare.commit(await c.req.json())));
app.post("/content", async (c) => c.json({ content: await bare.content(await c.req.json()) }));
app.post("/payload/:name", async (c) => {
  await c.req.json();
  return c.json(await bare.payload(c.req.param("name")));
});
/** The same calls as an MCP tool, with the package that the service uses and nothing else. */
const tools = createMcpHandler(() => {
  const server = new Server({ name: "bare", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/call", async ({ params }) => {
    const text = JSON.stringify(await bare.payload(String(params.arguments?.["name"])));
    return { content: [{ type: "text", text }] };
  });
  return server;
}, { legacy: "reject" });
app.post("/mcp", (c) => tools.fetch(c.req.raw));
Deno.serve(app.fetch);
