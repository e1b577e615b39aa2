/** Absolute paths of what the local stack uses in the repository. */
import { fileURLToPath } from "node:url";

const at = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

export const MIGRATIONS_DIRECTORY = at("../migrations");
export const SCHEMAS_DIRECTORY = at("../schemas");
export const FUNCTION_ENTRY = at("../functions/api/index.ts");
export const EDGE_RUNTIME = at("./stack/edge_runtime.ts");
export const EMBEDDINGS_PROCESS = at("./stack/model_process.ts");
export const IMPORT_MAP = at("../../import_map.json");
/** What is deployed with the function: its import map, and a lock beside it. */
export const FUNCTION_CONFIG = at("../functions/api/deno.json");
export const DENO_CONFIG = at("../../deno.json");
export const PLATFORM_SQL = at("./database/platform.sql");
export const CONSOLE_COMMAND = at("./cli/console.ts");
export const CONSOLE_DIRECTORY = at("../console");
/** Packages, copies of the sources and builds of the console; all of it can be made again. */
export const CONSOLE_WORK_DIRECTORY = at("../.temp/console");
/** Default of --data. */
export const DATA_DIRECTORY = at("../.temp/local");
/** Optional settings of the command line; see `.env.example`. */
export const ENV_FILE = at("../../.env");
