/** Other tools use /openapi.json: linters find no fault, and a generated client compiles and works. */
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { assert, assertEquals } from "@std/assert";
import spectral from "@stoplight/spectral-core";
import rulesets from "@stoplight/spectral-rulesets";
import openapiTS, { astToString } from "openapi-typescript";
import { fileURLToPath } from "node:url";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

const document = (await service.request(null, "GET", "/openapi.json")).text;

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SMOKE = new URL("../support/openapi/client_smoke.ts.txt", import.meta.url);

test("two linters have nothing to say about it, warnings included", async () => {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const found = (await lintFromString({ source: document, config }))
    .map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`);
  // These documents accept any request, so no refusal of theirs is described; a person's browser is always redirected.
  const open = /#\/paths\/~1(openapi\.json|llms\.txt|oauth~1authorize)\/get\/responses$/;
  assertEquals(found.filter((complaint) => !open.test(complaint)), []);
  const linter = new spectral.Spectral();
  linter.setRuleset(new spectral.Ruleset(rulesets.oas));
  assertEquals(await linter.run(document), []);
});

test("a client of openapi-typescript and openapi-fetch compiles under `deno check`, and reads in all five ways", async () => {
  const { project } = await files();
  const types = astToString(await openapiTS(document, { silent: true }));
  await withScratchDirectory(async (directory) => {
    await Deno.writeTextFile(`${directory}/paths.ts`, types);
    await Deno.copyFile(SMOKE, `${directory}/client.ts`);
    // The import map pins the imports; the types are generated from the current document.
    const run = ["run", "--check", "-A", "--no-lock", `--config=${ROOT}/tests/deno.jsonc`];
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [...run, `${directory}/client.ts`, service.baseUrl, project.key],
      env: { NO_COLOR: "1" },
    }).output();
    assertEquals(code, 0, new TextDecoder().decode(stderr));
    assert(new TextDecoder().decode(stdout).includes("passed"));
  });
});
