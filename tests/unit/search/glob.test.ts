/** Globs, converted to regular expressions for whole paths. */
import { assertEquals, assertThrows } from "@std/assert";
import { GlobError, globPattern } from "../../../supabase/functions/api/search/glob.ts";

Deno.test("globPattern matches names at any depth, and paths below the directory where it has a slash", () => {
  const rows: readonly (readonly [string, string, string, boolean])[] = [
    ["*.ts", "", "a.ts", true],
    ["*.ts", "", "src/deep/a.ts", true],
    ["*.ts", "", "a.tsx", false],
    ["src/*.ts", "", "src/a.ts", true],
    ["src/*.ts", "", "src/deep/a.ts", false],
    ["src/**/*.ts", "", "src/deep/a.ts", true],
    ["src/**/*.ts", "", "src/a.ts", true],
    ["src/**", "", "src/deep/a.ts", true],
    ["/a.ts", "", "src/a.ts", false],
    ["/a.ts", "", "a.ts", true],
    ["deep/*", "src", "src/deep/a", true],
    ["deep/*", "src", "deep/a", false],
    ["?.md", "", "a.md", true],
    ["?.md", "", "ab.md", false],
    ["[ab].md", "", "b.md", true],
    ["[!ab].md", "", "b.md", false],
    ["[a-c]1", "", "b1", true],
    ["*.{md,txt}", "", "x.txt", true],
    ["{a,b{c,d}}.md", "", "bd.md", true],
    ["a+b(1).md", "", "a+b(1).md", true],
    ["a.b", "", "axb", false],
  ];
  for (const [glob, directory, path, expected] of rows) {
    const name = `${glob} below ${directory} for ${path}`;
    assertEquals(new RegExp(globPattern(glob, directory), "u").test(path), expected, name);
  }
});

Deno.test("globPattern refuses what is no glob", () => {
  for (const glob of ["{a", "a}", "[a", "[z-a]", "[&]", `${"{a,b}".repeat(7)}`]) {
    assertThrows(() => globPattern(glob, ""), GlobError);
  }
});
