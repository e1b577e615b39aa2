/**
 * `npx deno task start` runs Deno below npx and a shell, and neither forwards SIGTERM: when npx ends, everything else
 * would keep running. So under npx the stack watches its ancestor processes, and stops when one of them ends. Started
 * in any other way, the stack may outlive its shell, as `nohup` expects.
 */
import { LAUNCHER_CHECK_MILLISECONDS } from "../limits.ts";

/** `deno task`, the shell, npx. */
const PARENTS = 3;

/** Resolves when one of the processes between npx and this one has ended; never without npx. */
export async function launcherEnded(): Promise<void> {
  if (Deno.env.get("npm_lifecycle_event") !== "npx" || Deno.build.os === "windows") {
    return await new Promise(() => {});
  }
  const before = await ancestors();
  do {
    await new Promise((resolve) => Deno.unrefTimer(setTimeout(resolve, LAUNCHER_CHECK_MILLISECONDS)));
  } while (await ancestors() === before);
}

/** Returns the ids of the ancestor processes, the parent first. */
async function ancestors(): Promise<string> {
  const ids = [Deno.ppid];
  for (let pid = Deno.ppid; ids.length < PARENTS && pid > 1;) ids.push(pid = await parentOf(pid));
  return ids.join(" ");
}

/** Returns 0 if the process has ended. */
async function parentOf(pid: number): Promise<number> {
  if (Deno.build.os !== "linux") {
    const { stdout } = await new Deno.Command("ps", { args: ["-o", "ppid=", "-p", String(pid)] }).output();
    return Number(new TextDecoder().decode(stdout));
  }
  const status = await Deno.readTextFile(`/proc/${pid}/status`).catch(() => "");
  return Number(/^PPid:\s*(\d+)/m.exec(status)?.[1] ?? 0);
}
