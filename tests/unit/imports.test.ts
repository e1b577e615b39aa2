/**
 * The floor plan of the code: which folders may import from which, no import from a lower floor to a higher one, and no
 * import cycles.
 */
import { assertEquals, assertGreater } from "@std/assert";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  circles,
  type Floors,
  importGraph,
  importsBesides,
  reachable,
  readImports,
  readSpecifiers,
  unplannedRooms,
  upwardImports,
} from "./import_graph.ts";

interface Plan {
  /** The folder below `supabase/`. */
  readonly root: string;
  /** From top to bottom: each room may import from itself and from lower floors. */
  readonly floors: Floors;
  /** Rooms that only the listed rooms may import. */
  readonly only?: Readonly<Record<string, readonly string[]>>;
}

const PLANS: readonly Plan[] = [
  {
    root: "functions/api",
    floors: [
      "index.ts", // environment → parts → server
      "app.ts", // the service as one `fetch`: routes, the order of checks, one error renderer
      "routes", // parameters, handler and description of each route
      "openapi", // the description of all routes, generated from their schemas
      "route.ts", // the type of a route
      "openapi_properties.ts", // what a route says of itself in /openapi.json
      "mcp", // tools for agents, and their protocol
      "middleware.ts", // the log line and the headers of every response
      "request_state.ts", // the data of one request that the middleware passes on
      "context.ts", // everything that a handler uses
      "services.ts", // parts with the lifetime of an isolate
      "memory", // the memory tool
      "search", // patterns, ranking, the index
      "maintenance", // the sweep, and the health of the back end
      "webhooks", // deliveries, their schedule and their secrets
      "mail", // what the service mails to people
      "files", // versions, segments, edits, compaction
      "oauth", // apps that sign in: their descriptions, what they discover, signed records
      "outbound", // requests to hosts that a stranger names
      "auth", // who is calling, and whether they may
      "http", // bodies, headers, paths, the envelope
      "adapters", // the ports over supabase-js
      "ports", // contracts with the database, the storage and the model
      "runtime", // memory, hashes, clocks, the log
      "errors.ts", // how an error is thrown
      "limits.ts", // every bound
      "contract", // records, errors and limits that a client sees
      "version.ts",
    ],
    only: { adapters: ["index.ts"] },
  },
  {
    root: "local",
    floors: [
      "cli", // the commands of `deno task`
      "model", // the model for search by meaning, in a process of its own
      "locks.ts", // the packages that each part downloads
      "stack", // the gateway, the back end and the function processes
      "console", // building and serving the console
      "local_mail.ts", // the mail that Auth would send
      "admin", // projects and keys of any Supabase project
      "database", // PGlite or a Postgres server
      "repository.ts", // absolute paths
      "startup_error.ts", // errors that are shown as one line
      "exists.ts", // whether there is a file
      "limits.ts", // every bound
    ],
    only: { cli: [], stack: ["cli"] },
  },
  {
    root: "client",
    floors: [
      "main.ts", // the one file: the command, and the library
      "build", // the bundles and the npm package
      "mod.ts", // the library, for programs
      "command", // the command line
      "sync", // a folder and the service kept equal
      "git", // the history as a git repository
      "transfer", // export and import
      "library", // the service's API, for programs; nothing of Node
      "failure.ts", // errors that are shown as one line
      "limits.ts", // every bound
    ],
    only: {
      build: [],
      command: ["build", "main.ts"],
      git: ["command"],
      sync: ["command"],
      transfer: ["command", "git", "sync"],
    },
  },
  {
    root: "console/src",
    floors: [
      "shell", // the entry, the frame around a view
      "views", // one page each
      "code", // the text editor and viewer
      "components", // parts of several views
      "state", // state that outlives a view: place, projects, keys, drafts, transfers
      "api", // calls of the service
      "session", // the signed-in account, the connection
      "config.ts", // settings of the site
      "format.ts", // sizes, times and names for display
      "sleep.ts",
      "limits.ts", // every bound
    ],
    only: { shell: [], views: ["shell"] },
  },
  {
    root: "console/src/views",
    floors: [
      ..."deleted_view.tsx links_view.tsx search settings_view.tsx activity connect".split(" "),
      ..."branches consent file folder keys runs settings sign_in".split(" "),
      "erase", // dialogs for permanent erasure
    ],
    // No view imports from another one.
    only: {
      activity: [],
      branches: [],
      connect: [],
      consent: [],
      erase: ["deleted_view.tsx", "file"],
      file: [],
      folder: [],
      keys: [],
      runs: [],
      settings: ["settings_view.tsx"],
      sign_in: [],
    },
  },
];

const tests = join(dirname(fileURLToPath(import.meta.url)), "..");
const supabase = join(dirname(fileURLToPath(import.meta.url)), "../../supabase");

for (const { root, floors, only = {} } of PLANS) {
  Deno.test(`${root}: every file has a floor, no import leads up, and no files import each other in a circle`, async () => {
    const graph = await readImports(join(supabase, root));
    assertGreater(graph.size, 20);
    assertEquals(unplannedRooms(graph, floors), []);
    assertEquals(upwardImports(graph, floors), []);
    for (const [room, allowed] of Object.entries(only)) {
      assertEquals(importsBesides(graph, room, allowed), [], `${room} is for ${allowed}`);
    }
    assertEquals(circles(graph), []);
  });
}

Deno.test("functions/api/contract: its files import each other and zod, nothing else", async () => {
  const folder = join(supabase, "functions/api/contract");
  const files = await Array.fromAsync(Deno.readDir(folder), ({ name }) => name);
  assertGreater(files.length, 1);
  for (const file of files) {
    const source = await Deno.readTextFile(join(folder, file));
    const others = readSpecifiers(source).filter((name) => name !== "zod" && !/^\.\/[a-z_]+\.ts$/.test(name));
    assertEquals(others, [], file);
  }
});

/** The modules of the service that the client contains, apart from types. */
const IN_CLIENT = [
  ...[
    "contract/limits.ts",
    "files/disk_name.ts",
    "files/merge_lines.ts",
    "http/path.ts",
    "runtime/counted.ts",
  ],
  ...["runtime/hidden_characters.ts", "runtime/work.ts", "search/glob.ts", "version.ts"],
];

Deno.test("client: of the service it imports types of the contract and small modules; the library nothing of Node", async () => {
  const root = join(supabase, "client");
  const files = [...(await readImports(root)).keys()].filter((file) => !file.startsWith("build/"));
  const found: string[] = [];
  for (const file of files) {
    const source = await Deno.readTextFile(join(root, file));
    for (const specifier of readSpecifiers(source)) {
      const [, module] = /\/functions\/api\/(.*)$/.exec(specifier) ?? [];
      const isType = file === "library/records.ts" && module?.startsWith("contract/");
      const isOfNode = !specifier.startsWith(".") && file.startsWith("library/");
      if (isOfNode || module !== undefined && !isType && !IN_CLIENT.includes(module)) {
        found.push(`${file}: ${specifier}`);
      }
    }
  }
  assertEquals(found, []);
});

/** The modules of the service that the console's build contains, apart from types; none of them imports a package. */
const IN_BUNDLE: Readonly<Record<string, string>> = {
  "limits.ts": "limits.ts",
  "format.ts": "runtime/hidden_characters.ts",
  "state/archive.ts": "files/disk_name.ts",
  "views/settings_view.tsx": "version.ts",
};

Deno.test("console/src: of the service it imports types of the contract, in api/, and four small modules", async () => {
  const root = join(supabase, "console/src");
  const files = [...(await readImports(root)).keys()];
  const found: string[] = [];
  for (const file of files) {
    const source = await Deno.readTextFile(join(root, file));
    const statements =
      source.match(/^(?:import|export)\b[^;"']*?\bfrom\s*["'][^"']*\/functions\/[^"']*["']/gm) ?? [];
    const specifiers = readSpecifiers(source).filter((name) => name.includes("/functions/"));
    assertEquals(statements.length, specifiers.length, file);
    for (const statement of statements) {
      const isType = /^(?:import|export) type \{/.test(statement);
      const isOfContract = /"(?:\.\.\/){3}functions\/api\/contract\/[a-z_]+\.ts"$/.test(statement);
      const isShared = statement.endsWith(`/functions/api/${IN_BUNDLE[file]}"`);
      const isAllowed = isShared || isType && isOfContract && file.startsWith("api/");
      if (!isAllowed) found.push(`${file}: ${statement}`);
    }
  }
  assertEquals(found, []);
});

Deno.test("tests/acceptance: of the service only its contract is imported, and every area is run by a test", async () => {
  const repository = await readImports(join(tests, ".."), ["node_modules", ".temp", ".git"]);
  const acceptance = [...repository.keys()].filter((file) => file.startsWith("tests/acceptance/"));
  assertGreater(acceptance.length, 20);
  const reached = reachable(repository, acceptance);
  const contract = /^supabase\/functions\/api\/contract\//;
  assertEquals(
    reached.filter((file) => !/^tests\/(acceptance|support)\//.test(file) && !contract.test(file)),
    [],
  );
  assertEquals(reached.filter((file) => file.startsWith("tests/support/stack/")), []);

  const listed = repository.get("tests/acceptance/areas.ts")?.filter((file) => !file.endsWith("/suite.ts"));
  const areas = acceptance.filter((file) => repository.get(file)?.includes("tests/acceptance/suite.ts"))
    .filter((file) => !["areas.ts", "run.ts"].some((name) => file.endsWith(`/${name}`)));
  assertEquals(listed?.toSorted(), areas.toSorted());
  const run = areas.filter((file) =>
    ["http", "http_slow"].some((folder) =>
      repository.get(file.replace("/acceptance/", `/${folder}/`).replace(/ts$/, "test.ts"))?.includes(file)
    )
  );
  assertEquals(run, areas);
});

Deno.test("the floor plan sees every kind of import, upward imports and circles", () => {
  const graph = importGraph(
    new Map([
      ["top.ts", `import type {\n  A,\n  B,\n} from "./middle/a.ts";\nimport { z } from "zod";`],
      ["middle/a.ts", `export { b } from "./b.ts";\n/** import x from "../top.ts" */`],
      ["middle/b.ts", `const c = await import("./a.ts");\nimport "../bottom.ts";`],
      ["bottom.ts", `import { type A } from "./middle/a.ts";`],
      ["attic/d.ts", ""],
    ]),
  );
  assertEquals([...graph], [
    ["top.ts", ["middle/a.ts"]],
    ["middle/a.ts", ["middle/b.ts"]],
    ["middle/b.ts", ["bottom.ts", "middle/a.ts"]],
    ["bottom.ts", ["middle/a.ts"]],
    ["attic/d.ts", []],
  ]);
  const floors = ["top.ts", "middle", "bottom.ts", "cellar"];
  assertEquals(unplannedRooms(graph, floors), ["attic", "cellar"]);
  assertEquals(upwardImports(graph, floors), ["bottom.ts → middle/a.ts"]);
  assertEquals(importsBesides(graph, "bottom.ts", ["top.ts"]), ["middle/b.ts → bottom.ts"]);
  assertEquals(importsBesides(graph, "bottom.ts", ["middle"]), []);
  assertEquals(reachable(graph, ["bottom.ts"]), ["bottom.ts", "middle/a.ts", "middle/b.ts"]);
  assertEquals(reachable(graph, ["attic/d.ts"]), ["attic/d.ts"]);
  assertEquals(circles(graph), [
    "middle/a.ts → middle/b.ts → bottom.ts → middle/a.ts",
    "middle/a.ts → middle/b.ts → middle/a.ts",
  ]);
});
