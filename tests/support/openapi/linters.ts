/** Two independent linters, each with the rules that it recommends. */
import { createConfig, lintFromString } from "@redocly/openapi-core";
import spectral from "@stoplight/spectral-core";
import rulesets from "@stoplight/spectral-rulesets";

/** Rule and location of each complaint of Redocly, including warnings. */
export async function lintByRedocly(document: string): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const problems = await lintFromString({ source: document, config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`);
}

/** Rule and location of each complaint of Spectral. */
export async function lintBySpectral(document: string): Promise<string[]> {
  const linter = new spectral.Spectral();
  linter.setRuleset(new spectral.Ruleset(rulesets.oas));
  const problems = await linter.run(document);
  return problems.map(({ code, message, path }) => `${code}: ${message} ${path.join(".")}`);
}
