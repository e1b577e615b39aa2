/**
 * The protocol's package takes a tenth of a second to load, so only the routes of the protocol load it; and only those
 * of apps load the code of OAuth.
 */
import { assert } from "@std/assert";
import { fileURLToPath } from "node:url";
import { z } from "zod";

const ENTRY = new URL("../../../supabase/functions/api/index.ts", import.meta.url).href;

const graph = z.object({
  modules: z.array(z.object({
    specifier: z.string(),
    dependencies: z.array(z.object({
      isDynamic: z.boolean().optional(),
      code: z.object({ specifier: z.string().optional() }).optional(),
    })).default([]),
  })),
});

Deno.test("no other route loads the package of the protocol, its tools or OAuth: they are reached by a dynamic import alone", async () => {
  const config = fileURLToPath(new URL("../../../deno.json", import.meta.url));
  const command = new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", `--config=${config}`, ENTRY],
  });
  const { stdout } = await command.output();
  const { modules } = graph.parse(JSON.parse(new TextDecoder().decode(stdout)));
  const reach = (withDynamic: boolean) => {
    const seen = new Set<string>();
    const visit = (specifier: string) => {
      if (seen.has(specifier)) return;
      seen.add(specifier);
      for (
        const { isDynamic, code } of modules.find((one) => one.specifier === specifier)?.dependencies ?? []
      ) {
        if (code?.specifier !== undefined && (withDynamic || !isDynamic)) visit(code.specifier);
      }
    };
    visit(ENTRY);
    return [...seen];
  };
  const isOfMcp = (specifier: string) =>
    specifier.includes("@modelcontextprotocol") || specifier.includes("/functions/api/mcp/");
  assert(!reach(false).some(isOfMcp), reach(false).filter(isOfMcp).join());
  const isOfOAuth = (specifier: string) => specifier.includes("/functions/api/oauth/");
  assert(!reach(false).some(isOfOAuth), reach(false).filter(isOfOAuth).join());
  assert(reach(true).filter(isOfOAuth).length > 5);
  // A deployment contains only modules that an import names literally.
  assert(reach(true).some((specifier) => specifier.includes("@modelcontextprotocol/server")));
  assert(reach(true).filter((specifier) => specifier.includes("/functions/api/mcp/tools/")).length > 5);
});
