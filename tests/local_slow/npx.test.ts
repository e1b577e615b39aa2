/** The README's command with npx, against a registry that counts requests: an installed package is not requested again. */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { readDocument } from "../support/content/documents.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";

/** A package whose command prints its arguments, as npm packs it. */
async function packed(directory: string, version: string): Promise<Uint8Array<ArrayBuffer>> {
  const folder = join(directory, "package");
  await Deno.mkdir(folder);
  const manifest = { name: "deno", version, bin: { deno: "deno.js" } };
  await Deno.writeTextFile(join(folder, "package.json"), JSON.stringify(manifest));
  const program = '#!/usr/bin/env node\nconsole.log(process.argv.slice(2).join(" "));\n';
  await Deno.writeTextFile(join(folder, "deno.js"), program);
  await Deno.chmod(join(folder, "deno.js"), 0o755);
  const archive = join(directory, "deno.tgz");
  const { success } = await new Deno.Command("tar", { args: ["-czf", archive, "-C", directory, "package"] })
    .output();
  assert(success);
  return await Deno.readFile(archive);
}

Deno.test("the README's npx command asks the registry once, and never again for a restart", () =>
  withScratchDirectory(async (directory) => {
    const { blocks } = await readDocument("README.md");
    const [command = ""] = blocks.map(({ text }) => text.trim()).filter((text) => text.startsWith("npx "));
    const [, version = ""] = /deno@([\d.]+) task start$/.exec(command) ?? [];
    const tarball = await packed(directory, version);
    const integrity = `sha512-${new Uint8Array(await crypto.subtle.digest("SHA-512", tarball)).toBase64()}`;
    const requests: string[] = [];
    const registry = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
      const { pathname, origin } = new URL(request.url);
      requests.push(pathname);
      if (pathname.endsWith(".tgz")) return new Response(tarball);
      if (pathname !== "/deno") return new Response(null, { status: 404 });
      const dist = { tarball: `${origin}/deno/-/deno-${version}.tgz`, integrity };
      const manifest = { name: "deno", version, bin: { deno: "deno.js" }, dist };
      return Response.json({
        name: "deno",
        "dist-tags": { latest: version },
        versions: { [version]: manifest },
      });
    });
    const run = async (text: string) => {
      const before = requests.length;
      const { success, stdout, stderr } = await new Deno.Command("bash", {
        args: ["-euc", text],
        cwd: directory,
        env: {
          npm_config_registry: `http://127.0.0.1:${registry.addr.port}/`,
          npm_config_cache: join(directory, "cache"),
          // The test itself may run by such a command.
          npm_config_prefer_offline: "false",
          npm_config_update_notifier: "false",
        },
      }).output();
      const [printed, problem] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes).trim());
      assert(success, problem);
      assertEquals(printed, "task start");
      return requests.length - before;
    };
    assert(await run(command) > 0);
    assertEquals(await run(command), 0);
    // Without the option, the registry is asked.
    assert(await run(command.replace(" --prefer-offline", "")) > 0);
    await registry.shutdown();
  }));
