/** The tasks that `deno.json` describes. */
import { z } from "zod";
import { code, table } from "./markdown.ts";

const config = z.object({
  tasks: z.record(z.string(), z.union([z.string(), z.object({ description: z.string().optional() })])),
});

export function tasksTable(): string {
  const text = Deno.readTextFileSync(new URL("../../../deno.json", import.meta.url));
  const described = Object.entries(config.parse(JSON.parse(text)).tasks).flatMap(([name, task]) =>
    typeof task === "string" || task.description === undefined
      ? []
      : [[code(`deno task ${name}`), task.description]]
  );
  return table(["task", "does"], described);
}
