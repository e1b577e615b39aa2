/** The settings of the page, from `config.json` beside it. */
import * as z from "zod/mini";

// Compiled schemas require eval, which the Content-Security-Policy forbids.
z.config({ jitless: true });

const configSchema = z.object({
  supabaseUrl: z.url(),
  publishableKey: z.string(),
  functionUrl: z.url(),
  github: z.boolean(),
  /** Whether the page shows mail instead of sending it, as on a local stack. */
  localMail: z.optional(z.boolean()),
});

type Config = z.infer<typeof configSchema>;

async function load(): Promise<Config> {
  const response = await fetch("config.json", { cache: "no-cache" });
  if (!response.ok) throw new Error(`config.json: HTTP status ${response.status}`);
  return configSchema.parse(await response.json());
}

let loaded: Config | undefined;

/** Loads the settings. Must be awaited before anything else. */
export async function loadConfig(): Promise<void> {
  loaded = await load();
}

/** Returns the settings. Throws if they are not loaded. */
export function config(): Config {
  if (loaded === undefined) throw new Error("the settings are not loaded yet");
  return loaded;
}
