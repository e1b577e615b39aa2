/** The documentation in published npm packages: Markdown files, pinned in tests/deno.jsonc, taken from Deno's own cache. */
import { packageFiles } from "./packages.ts";

/** Imported by name so that Deno caches them before they are read. Their code never runs. */
export const keepInCache = [
  () => import("@mastra/core/package.json", { with: { type: "json" } }),
  () => import("fixture-docs-ai/package.json", { with: { type: "json" } }),
  () => import("fixture-docs-fastify/package.json", { with: { type: "json" } }),
  () => import("fixture-docs-markdownlint"),
  () => import("fixture-docs-npm/package.json", { with: { type: "json" } }),
  () => import("fixture-docs-pino/package.json", { with: { type: "json" } }),
  () => import("playwright-core"),
  () => import("@anthropic-ai/sdk"),
  () => import("zod"),
];

/** A module of each package, by which its folder is found. */
const MODULES: Readonly<Record<string, string>> = {
  "ai": "fixture-docs-ai/package.json",
  "anthropic-sdk": "@anthropic-ai/sdk",
  "fastify": "fixture-docs-fastify/package.json",
  "markdownlint": "fixture-docs-markdownlint",
  "mastra": "@mastra/core/package.json",
  "npm": "fixture-docs-npm/package.json",
  "pino": "fixture-docs-pino/package.json",
  "playwright": "playwright-core",
  "zod": "zod",
};

export interface Documentation {
  /** `{package}/{path within the package}`. */
  readonly path: string;
  readonly text: string;
}

/** Every Markdown file of the packages except licences and changelogs, sorted by path. */
export async function packageDocumentation(): Promise<Documentation[]> {
  const files = await packageFiles(MODULES, /^(?!.*(changelog|history|licen[sc]e)).*\.mdx?$/is);
  return files.map(({ path, bytes }) => ({ path, text: new TextDecoder().decode(bytes) }));
}
