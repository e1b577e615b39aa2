/** Chromium on this machine: an existing browser, or Debian's package, which is installed if possible. */

const NAMES = ["chromium", "chromium-browser", "google-chrome"];
const IS_ROOT = Deno.uid() === 0;
const HOW =
  "Install it (Debian: apt-get install chromium), or set CHROMIUM to the path of a Chromium or Chrome.";

/** Chromium refuses to run as root inside its sandbox. The tests open only this repository's own pages. */
export const CHROMIUM_ARGUMENTS: readonly string[] = IS_ROOT ? ["--no-sandbox"] : [];

/**
 * Returns the path of the browser. Installs Debian's package if there is no browser; throws an error of one sentence if that
 * fails.
 */
export async function chromiumPath(): Promise<string> {
  const named = Deno.env.get("CHROMIUM");
  if (named !== undefined && named !== "") return named;
  const found = await findChromium();
  if (found !== null) return found;
  await installChromium();
  const installed = await findChromium();
  if (installed === null) throw new Error(`Chromium was installed and is not on the PATH. ${HOW}`);
  return installed;
}

async function findChromium(): Promise<string | null> {
  const folders = (Deno.env.get("PATH") ?? "").split(":").filter((folder) => folder !== "");
  for (const name of NAMES) {
    for (const folder of folders) {
      const path = `${folder}/${name}`;
      if (await Deno.stat(path).then(({ isFile }) => isFile, () => false)) return path;
    }
  }
  return null;
}

/** Allows one process at a time: apt has one lock, and fails at once if another process holds it. */
async function installChromium(): Promise<void> {
  const prefix = IS_ROOT ? [] : ["sudo", "-n"];
  const lockFile = await Deno.open("/tmp/filestore-tests-chromium.lock", { create: true, write: true });
  try {
    await lockFile.lock(true);
    if (await findChromium() !== null) return;
    await run([...prefix, "apt-get", "update", "-qq"]);
    await run([...prefix, "apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"]);
  } finally {
    lockFile.close();
  }
}

async function run([command = "", ...args]: readonly string[]): Promise<void> {
  const sentence = `There is no Chromium, and '${[command, ...args].join(" ")}' failed`;
  let said: string;
  try {
    const { success, stderr } = await new Deno.Command(command, {
      args,
      env: { DEBIAN_FRONTEND: "noninteractive" },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).output();
    if (success) return;
    said = new TextDecoder().decode(stderr).trim().split("\n").at(-1) ?? "";
  } catch (error) {
    said = error instanceof Error ? error.message : String(error);
  }
  throw new Error(`${sentence} (${said}). ${HOW}`);
}
