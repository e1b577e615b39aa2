import { assertEquals, assertThrows } from "@std/assert";
import { UsageError } from "../../supabase/local/cli/command_line.ts";
import { parseStartOptions } from "../../supabase/local/cli/start_options.ts";
import { DATA_DIRECTORY } from "../../supabase/local/repository.ts";

const DEFAULTS = {
  json: false,
  log: false,
  port: 54321,
  dataDir: DATA_DIRECTORY,
  databaseUrl: undefined,
  embeddings: true,
};
const DATABASE = "postgresql://user:p%40ss@localhost:5432/name";

const UNDERSTOOD: [string[], Partial<typeof DEFAULTS> | { databaseUrl: string }][] = [
  [[], {}],
  [["--port", "8000"], { port: 8000 }],
  [["--port=0"], { port: 0 }],
  [["--data", "/tmp/x y"], { dataDir: "/tmp/x y" }],
  [["--db", DATABASE], { databaseUrl: DATABASE }],
  [["--json"], { json: true }],
  [["--log"], { log: true }],
  [["--no-embeddings"], { embeddings: false }],
];

for (const [args, expected] of UNDERSTOOD) {
  Deno.test(`parseStartOptions() understands ${JSON.stringify(args)}`, () => {
    assertEquals(parseStartOptions(args), { ...DEFAULTS, ...expected });
  });
}

const REFUSED: [string[], string][] = [
  [["--prot", "1"], "Unknown option '--prot'. Did you mean --port?"],
  [["8000"], "Unexpected argument '8000'."],
  [["--port"], "--port"],
  [["--port", "65536"], "--port must be a whole number from 0 to 65535."],
  [["--port", "-1"], "--port"],
  [["--port", "1e3"], "--port must be a whole number from 0 to 65535."],
  [["--port", "1", "--port", "2"], "Option '--port' must not be repeated."],
  [["--data", ""], "--data must be the path of a folder."],
  [["--db", "localhost"], "--db must be an address"],
  [["--db", "mysql://localhost/x"], "--db must be an address"],
  [["--json=yes"], "--json"],
];

for (const [args, problem] of REFUSED) {
  Deno.test(`parseStartOptions() refuses ${JSON.stringify(args)} with one line that says what is wrong`, () => {
    const error = assertThrows(() => parseStartOptions(args), UsageError, problem);
    assertEquals(error.message.split("\n").length, 1);
  });
}
