import { assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { join } from "node:path";
import { openDataDirectory } from "../../supabase/local/stack/data_directory.ts";
import { loadSecrets } from "../../supabase/local/stack/secrets.ts";
import { StartupError } from "../../supabase/local/startup_error.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";

Deno.test("openDataDirectory() lets one stack in at a time", () =>
  withScratchDirectory(async (path) => {
    const first = await openDataDirectory(path);
    await assertRejects(
      () => openDataDirectory(path),
      StartupError,
      "Another local stack uses the data folder",
    );
    first.release();
    (await openDataDirectory(path)).release();
  }));

Deno.test("openDataDirectory() refuses a folder it cannot make with a clear line", () =>
  withScratchDirectory(async (path) => {
    const file = join(path, "file");
    await Deno.writeTextFile(file, "");
    await assertRejects(() => openDataDirectory(join(file, "data")), StartupError, "cannot be written");
  }));

Deno.test("openDataDirectory() keeps what belongs to one database apart from another's", () =>
  withScratchDirectory(async (path) => {
    const data = await openDataDirectory(path);
    const one = await data.of("postgresql://a:x@host/one");
    assertEquals(await data.of("postgresql://b:y@host:5432/one"), one);
    assertNotEquals(await data.of("postgresql://a:x@host/two"), one);
    assertNotEquals(await data.of(undefined), one);
    data.release();
  }));

Deno.test("loadSecrets() makes keys once, for their owner's eyes only", () =>
  withScratchDirectory(async (path) => {
    const file = join(path, "secrets.json");
    const made = await loadSecrets(file);
    assertEquals(await loadSecrets(file), made);
    assertEquals(((await Deno.stat(file)).mode ?? 0) & 0o777, 0o600);
    assertEquals(/^sb_secret_[\w-]{32}$/.test(made.secretKey), true);
    assertEquals(/^sb_publishable_[\w-]{32}$/.test(made.publishableKey), true);
    assertNotEquals((await loadSecrets(join(path, "other.json"))).secretKey, made.secretKey);
  }));

Deno.test("loadSecrets() does not replace keys it cannot read", () =>
  withScratchDirectory(async (path) => {
    const file = join(path, "secrets.json");
    await Deno.writeTextFile(file, `{"secretKey": "sb_secret_x"}`);
    await assertRejects(() => loadSecrets(file), StartupError, "is damaged");
  }));
