/**
 * `deno task files`: the command `filestore` of the client. Where neither options, nor the environment, nor a profile
 * name a project, it uses the demo project of the local stack.
 */
import { runCommandLine } from "../../client/command/program.ts";
import { Failure } from "../../client/failure.ts";
import { StartupError } from "../startup_error.ts";
import { demoProject, loadEnv } from "./connection.ts";

loadEnv();
// The names that the documents use for `curl`.
for (const [name, other] of [["FILESTORE_URL", "BASE_URL"], ["FILESTORE_KEY", "API_KEY"]] as const) {
  const value = Deno.env.get(name) || Deno.env.get(other);
  if (value) Deno.env.set(name, value);
}

Deno.exitCode = await runCommandLine(Deno.args, {
  name: "deno task files",
  options: [
    [
      "--data <dir>",
      "the data folder of the local stack whose demo project is used where no project is named",
    ],
  ],
  fallback: async ({ data }) => {
    try {
      return await demoProject(typeof data === "string" ? data : undefined);
    } catch (error) {
      throw error instanceof StartupError ? new Failure(error.message) : error;
    }
  },
});
