/**
 * `npx deno task start` puts npx and a shell in front of Deno, and they do not pass SIGTERM on: whoever ends npx
 * would leave everything else running. So under npx the line of parents is watched, and its end is taken for a
 * request to stop. Started any other way the stack may outlive its shell, as `nohup` expects.
 */
import { LAUNCHER_CHECK_MILLISECONDS } from "../limits.ts";

/** `deno task`, the shell, npx. */
const PARENTS = 3;

/** Resolves when one of the processes between npx and this one has ended; never without npx. */
export async function launcherEnded(): Promise<void> {
  if (Deno.env.get("npm_lifecycle_event") !== "npx" || Deno.build.os === "windows") {
    return await new Promise(() => {});
  }
  const parents = await lineOfParents();
  do {
    await new Promise((resolve) => Deno.unrefTimer(setTimeout(resolve, LAUNCHER_CHECK_MILLISECONDS)));
  } while (await lineOfParents() === parents);
}

/** Process ids from the parent up. */
async function lineOfParents(): Promise<string> {
  const line = [Deno.ppid];
  for (let pid = Deno.ppid; line.length < PARENTS && pid > 1;) line.push(pid = await parentOf(pid));
  return line.join(" ");
}

/** 0 where the process is gone. */
async function parentOf(pid: number): Promise<number> {
  if (Deno.build.os !== "linux") {
    const { stdout } = await new Deno.Command("ps", { args: ["-o", "ppid=", "-p", String(pid)] }).output();
    return Number(new TextDecoder().decode(stdout));
  }
  const status = await Deno.readTextFile(`/proc/${pid}/status`).catch(() => "");
  return Number(/^PPid:\s*(\d+)/m.exec(status)?.[1] ?? 0);
}
