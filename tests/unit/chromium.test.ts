/** Where the tests find or install their browser. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { withScratchDirectory } from "../support/scratch_directory.ts";

const MODULE = new URL("../support/browser/chromium.ts", import.meta.url).href;
const CONFIG = fileURLToPath(new URL("../../deno.json", import.meta.url));
/** Scripts in place of `apt-get`: one installs a browser, the other fails as without permission. */
const INSTALLS = '#!/bin/sh\ncase "$1" in install) : > "${0%/*}/chromium";; esac\n';
const REFUSES = "#!/bin/sh\necho 'Could not get lock' >&2\nexit 100\n";
/** A script in place of `sudo`: runs its arguments. */
const SUDO = '#!/bin/sh\nshift\nexec "$@"\n';

Deno.test("chromiumPath() installs Debian's package where there is no browser, and finds it", () =>
  withScratchDirectory(async (folder) => {
    assertEquals(await find(folder, { "apt-get": INSTALLS, sudo: SUDO }), `${folder}/chromium`);
  }));

Deno.test("chromiumPath() takes CHROMIUM, before any other", () =>
  withScratchDirectory(async (folder) => {
    assertEquals(await find(folder, { chromium: "" }, { CHROMIUM: "/opt/a browser" }), "/opt/a browser");
  }));

Deno.test("chromiumPath() says in one sentence why there is none, and what to do", () =>
  withScratchDirectory(async (folder) => {
    const said = await find(folder, { "apt-get": REFUSES, sudo: SUDO });
    assertStringIncludes(said, "There is no Chromium, and '");
    assertStringIncludes(said, "apt-get update -qq' failed (Could not get lock). Install it");
  }));

/** Runs `chromiumPath()` in a process that sees only these commands, and returns its path or its error. */
async function find(folder: string, commands: Record<string, string>, env: Record<string, string> = {}) {
  for (const [name, text] of Object.entries(commands)) {
    await Deno.writeTextFile(`${folder}/${name}`, text, { mode: 0o755 });
  }
  const code = `import { chromiumPath } from ${JSON.stringify(MODULE)};
    console.log(await chromiumPath().catch((error) => error.message));`;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", `--config=${CONFIG}`, "--no-lock", code],
    env: { PATH: folder, CHROMIUM: "", ...env },
  }).output();
  return new TextDecoder().decode(stdout).trim();
}
