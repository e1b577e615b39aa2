/** The packages of the console. Their versions are pinned in the import map only; Vite requires a package.json. */

/** Packages that `src` imports, and Vite. */
const PACKAGES = [
  "@codemirror/commands",
  "@codemirror/lang-cpp",
  "@codemirror/lang-css",
  "@codemirror/lang-html",
  "@codemirror/lang-java",
  "@codemirror/lang-javascript",
  "@codemirror/lang-json",
  "@codemirror/lang-markdown",
  "@codemirror/lang-python",
  "@codemirror/lang-xml",
  "@codemirror/lang-yaml",
  "@codemirror/language",
  "@codemirror/merge",
  "@codemirror/search",
  "@codemirror/state",
  "@codemirror/view",
  "@lezer/highlight",
  "@preact/signals",
  "@supabase/supabase-js",
  "client-zip",
  "github-slugger",
  "markdown-it",
  "markdown-it-footnote",
  "papaparse",
  "pdfjs-dist",
  "preact",
  "vite",
  "zod",
];

/** Returns the package.json of a build, given the text of the import map. Throws if a package is missing there. */
export function packageJson(importMap: string): string {
  const { imports }: { imports: Record<string, string> } = JSON.parse(importMap);
  const dependencies = PACKAGES.map((name) => {
    const target = imports[name] ?? "";
    const prefix = `npm:${name}@`;
    if (!target.startsWith(prefix)) throw new Error(`import_map.json has no exact version of ${name}`);
    return [name, target.slice(prefix.length)] as const;
  });
  return JSON.stringify({ private: true, type: "module", dependencies: Object.fromEntries(dependencies) });
}
