import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { RequestLog } from "../../supabase/local/stack/request_log.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";

Deno.test("RequestLog: at its size the file takes the place of the one before, and no line is torn or written twice", () =>
  withScratchDirectory(async (directory) => {
    const path = join(directory, "requests.log");
    const written: string[] = [];
    for (let run = 0; run < 3; run++) {
      const log = new RequestLog(path, 100);
      for (let n = 0; n < 7; n++) {
        written.push(`run ${run} line ${n} ${"é".repeat(n)}`);
        log.write(written[written.length - 1] ?? "");
      }
      log.close();
    }
    const [older, newer] = await Promise.all([Deno.readTextFile(`${path}.1`), Deno.readTextFile(path)]);
    const kept = (older + newer).trimEnd().split("\n");
    assertEquals(kept, written.slice(-kept.length));
    for (const text of [older, newer]) assertEquals(new TextEncoder().encode(text).byteLength <= 100, true);
    const names = [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
    assertEquals(names, ["requests.log", "requests.log.1"]);
  }));

Deno.test("RequestLog: a line longer than the bound is still written, and a folder that is gone costs lines alone", () =>
  withScratchDirectory(async (directory) => {
    const path = join(directory, "requests.log");
    const log = new RequestLog(path, 10);
    log.write("x".repeat(50));
    assertEquals(await Deno.readTextFile(path), `${"x".repeat(50)}\n`);
    log.close();
    const lost = new RequestLog(join(directory, "none", "requests.log"));
    lost.write("line");
    lost.close();
  }));
