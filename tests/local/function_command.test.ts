/** The environment variables that the function's process gets from its parent. */
import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DENO_CONFIG } from "../../supabase/local/repository.ts";
import { loadSecrets } from "../../supabase/local/stack/secrets.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";

const PRINT_ENVIRONMENT = fileURLToPath(new URL("./fixtures/print_environment.ts", import.meta.url));
/** Variables that say where packages come from, and which certificate to trust. */
const WAY_TO_PACKAGES = {
  DENO_CERT: "/certificates/office.pem",
  NODE_EXTRA_CA_CERTS: "/certificates/office.pem",
  SSL_CERT_DIR: "/certificates",
  NPM_CONFIG_REGISTRY: "https://npm.example",
};

/** The folders of Deno itself. Nothing else of this environment is passed on. */
const PLACES = Object.fromEntries(
  ["HOME", "DENO_DIR"].flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  }),
);

/** The environment of the function's process, limited to names in `variables` and those that Supabase injects. */
async function given(variables: Record<string, string>): Promise<Record<string, string>> {
  return await withScratchDirectory(async (path) => {
    const secrets = await loadSecrets(join(path, "secrets.json"));
    const { stdout, success } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", "--config", DENO_CONFIG, PRINT_ENVIRONMENT, JSON.stringify(secrets)],
      clearEnv: true,
      env: { ...PLACES, ...variables },
      stderr: "inherit",
    }).output();
    assertEquals(success, true);
    return JSON.parse(new TextDecoder().decode(stdout));
  });
}

Deno.test("functionCommand() passes on where packages come from and what is trusted there, and nothing of the user's own", async () => {
  const environment = await given({
    ...WAY_TO_PACKAGES,
    AWS_SECRET_ACCESS_KEY: "secret",
    DATABASE_URL: "secret",
  });
  for (const [name, value] of Object.entries(WAY_TO_PACKAGES)) assertEquals(environment[name], value, name);
  assertEquals(Object.values(environment).includes("secret"), false);
});

Deno.test("functionCommand() lets Deno trust the system's certificates, unless a setting names others", async () => {
  assertEquals((await given({}))["DENO_TLS_CA_STORE"], "mozilla,system");
  assertEquals((await given({ DENO_TLS_CA_STORE: "mozilla" }))["DENO_TLS_CA_STORE"], "mozilla");
});
