/** Runs programs of the machine, such as Postgres's own. */
import { assertEquals } from "@std/assert";

/** The package of the Supabase CLI, as the documents name it. */
export const SUPABASE_CLI = "supabase@3.1.0";

/** Runs the program to its end and returns its output. Throws with its errors if it fails. */
export async function run(program: string, args: readonly string[], input?: string): Promise<string> {
  const child = new Deno.Command(program, {
    args: [...args],
    stdin: input === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  if (input !== undefined) {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(input));
    await writer.close();
  }
  const { code, stdout, stderr } = await child.output();
  assertEquals(code, 0, `${program}: ${new TextDecoder().decode(stderr).slice(-2000)}`);
  return new TextDecoder().decode(stdout);
}
