/**
 * Creates projects and keys for a run as an operator does, with `deno task projects` and `deno task keys`. These find
 * the secret key in the environment, in `.env`, or in the local stack.
 */
import { fileURLToPath } from "node:url";
import { z } from "zod";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
/** Reused by the next run, so that a deployment has two such projects, however often it is checked. */
const PROJECT_NAMES = ["acceptance", "acceptance, another project"] as const;
/** A key that cannot be revoked expires by then. */
const KEY_LIFETIME_MILLISECONDS = 24 * 60 * 60_000;

const projectList = z.array(z.object({ id: z.string(), name: z.string() }));
const newProject = z.object({ id: z.string() });
const newKey = z.object({ id: z.string(), key: z.string() });

export interface MadeKeys {
  readonly key: string;
  readonly strangerKey: string;
  /** Revokes both keys. */
  revoke(): Promise<void>;
}

/** Creates the missing projects, without limits, and a key for each project. `supabaseUrl` undefined: the default. */
export async function makeKeys(supabaseUrl: string | undefined): Promise<MadeKeys> {
  const url = supabaseUrl === undefined ? [] : ["--url", supabaseUrl];
  const projects = projectList.parse(await operate("projects", ["list", ...url]));
  const made: z.infer<typeof newKey>[] = [];
  const revoke = async () => {
    for (const { id } of made.splice(0)) await operate("keys", ["revoke", id, ...url]);
  };
  try {
    for (const name of PROJECT_NAMES) {
      const { id } = projects.find((project) => project.name === name) ??
        newProject.parse(await operate("projects", ["create", name, "--tier", "enterprise", ...url]));
      const expires = new Date(Date.now() + KEY_LIFETIME_MILLISECONDS).toISOString();
      const options = ["--project", id, "--name", "acceptance", "--expires", expires];
      made.push(newKey.parse(await operate("keys", ["create", ...options, ...url])));
    }
  } catch (error) {
    await revoke();
    throw error;
  }
  const [key = "", strangerKey = ""] = made.map(({ key }) => key);
  return { key, strangerKey, revoke };
}

/** Runs a command and returns its line for programs. Throws its text for people. */
async function operate(command: "projects" | "keys", args: readonly string[]): Promise<unknown> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", `supabase/local/cli/${command}.ts`, ...args, "--json"],
    cwd: REPOSITORY,
    stdin: "null",
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trim();
  if (!success) throw new Error(text(stderr).replace(/^Error: /, ""));
  return JSON.parse(text(stdout));
}
