/** The Deno inside Supabase's edge runtime, which is older than the one that runs the tests. */

/** https://github.com/supabase/edge-runtime, `Cargo.toml`. */
const EDGE_RUNTIME_DENO = "2.1.4";

/** The path of its executable, from npm. Running it by npx each time would put two more processes in between. */
export async function edgeRuntimeDeno(): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("npx", {
    args: [
      "--yes",
      `deno@${EDGE_RUNTIME_DENO}`,
      "eval",
      "--no-config",
      "--no-lock",
      "console.log(Deno.execPath())",
    ],
  }).output();
  const path = new TextDecoder().decode(stdout).trim();
  if (success && path !== "") return path;
  throw new Error(`npm has no Deno ${EDGE_RUNTIME_DENO}: ${new TextDecoder().decode(stderr).trim()}`);
}
