/** Absolute paths of the repository's files that the local stack uses. */
import { fileURLToPath } from "node:url";

const at = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

export const MIGRATIONS_DIRECTORY = at("../migrations");
export const SCHEMAS_DIRECTORY = at("../schemas");
export const FUNCTION_ENTRY = at("../functions/api/index.ts");
export const EDGE_RUNTIME = at("./stack/edge_runtime.ts");
export const EMBEDDINGS_PROCESS = at("./model/model_process.ts");
/** The packages of the function, which are also common to the whole repository. */
export const IMPORT_MAP = at("../../import_map.json");
/** The version of Deno inside Supabase's edge runtime, whose lock files have an older format. */
export const DEPLOYED_DENO = "2.1.4";
/** The import map that is deployed with the function; its lock file is beside it. */
export const FUNCTION_CONFIG = at("../functions/api/deno.json");
export const DENO_CONFIG = at("../../deno.json");
/** The packages of the stack and the commands, and those that are downloaded when they are first needed. */
export const LOCAL_CONFIG = at("./deno.json");
export const MODEL_CONFIG = at("./model/deno.json");
export const CONSOLE_CONFIG = at("../console/deno.json");
/** The client: what it imports, and what its package is built with. */
export const CLIENT_CONFIG = at("../client/deno.json");
export const TESTS_CONFIG = at("../../tests/deno.jsonc");
/** The packages of the acceptance suite alone: Deno downloads all that a lock names. */
export const ACCEPTANCE_CONFIG = at("../../tests/acceptance/deno.json");
export const NPX_CONFIG = at("../../tests/support/npx/deno.json");
export const PLATFORM_SQL = at("./database/platform.sql");
export const CONSOLE_COMMAND = at("./cli/console.ts");
export const CONSOLE_DIRECTORY = at("../console");
/** Packages, copies of the sources and builds of the console; the folder may be deleted at any time. */
export const CONSOLE_WORK_DIRECTORY = at("../.temp/console");
/** Default of --data. */
export const DATA_DIRECTORY = at("../.temp/local");
/** Optional settings of the command line; see `.env.example`. */
export const ENV_FILE = at("../../.env");
