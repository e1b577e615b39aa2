/**
 * The local Supabase: @supabase/lite (PostgREST-, GoTrue- and Storage-compatible) on a database, with this
 * repository's migrations applied, listening on a loopback port of its own behind the gateway.
 */
import { type ApiKeyResolver, App, type ResolvedKey, setExperimental } from "@supabase/lite";
import { counted } from "../../functions/api/runtime/counted.ts";
import type { Database } from "../database/database.ts";
import { administerUser } from "./auth_admin.ts";
import { DiskStorage } from "./disk_storage.ts";
import { BACKEND_STOP_TIMEOUT_MILLISECONDS, STORAGE_FILE_SIZE_LIMIT } from "../limits.ts";
import { migrate } from "../database/migrations.ts";
import { asOneRequest } from "../database/pglite_session.ts";
import { openPglite } from "../database/pglite_database.ts";
import { openPostgres } from "../database/postgres_database.ts";
import { PLATFORM_SQL } from "../repository.ts";
import { quietly } from "./quiet_console.ts";
import type { Secrets } from "./secrets.ts";
import { LocalMail } from "../local_mail.ts";
import { messageOf, StartupError } from "../startup_error.ts";

/** Paths that clients can reach. @supabase/lite also serves an admin console and its configuration, which are not exposed. */
const SERVED = ["/rest/v1", "/auth/v1", "/storage/v1"];

export interface BackendOptions {
  readonly secrets: Secrets;
  /** Files of PGlite; unused with `databaseUrl`. */
  readonly databaseDirectory: string;
  readonly databaseUrl: string | undefined;
  readonly storageDirectory: string;
  readonly migrationsDirectory: string;
  readonly joinsSettings?: boolean | undefined;
  /** The page to which Auth redirects from a link in a mail, after it has checked the link. */
  readonly siteUrl?: string;
  readonly mail?: LocalMail;
  /** Awaited before the response to a request to Auth that may have created an account. */
  readonly onAuth?: () => Promise<void>;
  readonly onProgress: (line: string) => void;
}

export interface Backend {
  /** Address without trailing slash, as SUPABASE_URL. */
  readonly url: string;
  readonly database: Database;
  close(): Promise<void>;
}

/** Opens the database, applies missing migrations and serves it. Throws `StartupError`. */
export async function startBackend(options: BackendOptions): Promise<Backend> {
  const { databaseUrl, onProgress } = options;
  onProgress(databaseUrl === undefined ? "Opening the database" : "Connecting to the database");
  const database = databaseUrl === undefined
    ? await openPglite(options.databaseDirectory, options.joinsSettings)
    : await openPostgres(databaseUrl, options.joinsSettings);
  try {
    const app = await createApp(database, options);
    await migrate(database, options.migrationsDirectory, {
      onUpgrade: (count) => {
        if (databaseUrl === undefined) return;
        onProgress(`Upgrading the database with ${counted(count, "migration")}, without a copy of it`);
      },
      onApply: (file) => onProgress(`Applying ${file}`),
    });
    if (databaseUrl !== undefined) await prepareRoles(app, options.secrets);
    const listen = { hostname: "127.0.0.1", port: 0, onListen() {} };
    const server = Deno.serve(listen, async (request, info) => {
      const { pathname } = new URL(request.url);
      if (!SERVED.some((path) => pathname.startsWith(`${path}/`))) return new Response(null, { status: 404 });
      const peerAddress = info.remoteAddr.hostname;
      const response = await administerUser(request, database, options.secrets) ??
        await quietly(() => asOneRequest(() => app.fetch(request, { peerAddress })));
      if (pathname.startsWith("/auth/v1/")) await options.onAuth?.();
      return response;
    });
    return {
      url: `http://127.0.0.1:${server.addr.port}`,
      database,
      async close() {
        // Requests that are still open after this time lose the database. (Aborting a server that is shutting down throws.)
        const { promise: timedOut, resolve } = Promise.withResolvers<void>();
        const timer = setTimeout(resolve, BACKEND_STOP_TIMEOUT_MILLISECONDS);
        await Promise.race([server.shutdown(), timedOut]);
        clearTimeout(timer);
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function createApp(database: Database, options: BackendOptions) {
  const { secrets } = options;
  setExperimental("storage", true);
  const app = new App({
    connection: database.connection,
    auth: {
      enabled: true,
      ...(options.siteUrl === undefined ? {} : { site_url: options.siteUrl }),
      jwt_secret: secrets.jwtSecret,
      publishable_key: secrets.publishableKey,
      secret_key: secrets.secretKey,
    },
    storage: { enabled: true, file_size_limit: STORAGE_FILE_SIZE_LIMIT },
    api: { schemas: ["public"] },
    options: {
      drivers: { email: options.mail ?? new LocalMail() },
      server: { apiKeys: { resolver: keyResolver(secrets) }, disableStudio: true },
    },
  });
  app._storageAdapter = new DiskStorage(options.storageDirectory);
  await quietly(() => app.ensureSystemSchema());
  try {
    await database.script(await Deno.readTextFile(PLATFORM_SQL));
  } catch (error) {
    throw new StartupError(`The database cannot be prepared: ${messageOf(error)}`);
  }
  return app;
}

/**
 * Makes @supabase/lite grant the privileges of its roles, which it does with its first statement. If its first requests
 * were concurrent, each would try to, and all but one would fail. PGlite needs no call, since it has one connection.
 */
async function prepareRoles(app: App, { secretKey }: Secrets): Promise<void> {
  const headers = { apikey: secretKey, "content-type": "application/json" };
  const url = "http://127.0.0.1/rest/v1/rpc/filestore_health_probe";
  const request = new Request(url, { method: "POST", headers, body: "{}" });
  const response = await quietly(() => app.fetch(request, { peerAddress: "127.0.0.1" }));
  await response.body?.cancel();
}

/** Accepts the new keys and the legacy ones, like the gateway of the hosted platform. */
function keyResolver(secrets: Secrets): ApiKeyResolver {
  const anon: ResolvedKey = { type: "publishable", claims: { role: "anon" } };
  const serviceRole: ResolvedKey = { type: "secret", claims: { role: "service_role" } };
  const roles = new Map([
    [secrets.publishableKey, anon],
    [secrets.anonKey, anon],
    [secrets.secretKey, serviceRole],
    [secrets.serviceRoleKey, serviceRole],
  ]);
  return (key) => Promise.resolve(roles.get(key) ?? null);
}
