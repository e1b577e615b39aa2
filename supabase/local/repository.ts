/** Where things are in the repository, as absolute paths. */
import { fileURLToPath } from "node:url";

const at = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

export const MIGRATIONS_DIRECTORY = at("../migrations");
export const SCHEMAS_DIRECTORY = at("../schemas");
export const FUNCTION_ENTRY = at("../functions/api/index.ts");
export const EDGE_RUNTIME = at("./stack/edge_runtime.ts");
export const IMPORT_MAP = at("../../import_map.json");
export const DENO_CONFIG = at("../../deno.json");
/** Default of --data. */
export const DATA_DIRECTORY = at("../.temp/local");
/** Settings of the command line, if there are any; see `.env.example`. */
export const ENV_FILE = at("../../.env");
