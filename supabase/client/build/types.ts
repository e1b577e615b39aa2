/** The package's declarations: of the library by TypeScript, and of the records from the contract's schemas. */
import ts from "typescript";
import { fileURLToPath } from "node:url";
import { recordTypes } from "./records.ts";

const at = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** The modules of the library whose declarations are those of their sources, and their names in the package. */
const MODULES = [
  "api",
  "branches",
  "deep_agents",
  "errors",
  "filestore",
  "links",
  "options",
  "request",
  "runs",
];

/** File name → content, of all declarations of the package. */
export async function declarations(): Promise<ReadonlyMap<string, string>> {
  const all = new Map([["library/records.d.ts", recordTypes()]]);
  for (const name of MODULES) {
    all.set(`library/${name}.d.ts`, await declarationOf(`../library/${name}.ts`));
  }
  all.set("index.d.ts", await declarationOf("../mod.ts"));
  // The same for `require`.
  for (const [name, text] of [...all]) {
    all.set(name.replace(/ts$/, "cts"), text.replaceAll(/(from "\.[^"]*)\.js"/g, '$1.cjs"'));
  }
  return all;
}

async function declarationOf(source: string): Promise<string> {
  const { outputText } = ts.transpileDeclaration(await Deno.readTextFile(at(source)), {
    fileName: at(source),
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, strict: true },
  });
  return outputText.replaceAll(/(from "\.[^"]*)\.ts"/g, '$1.js"');
}
