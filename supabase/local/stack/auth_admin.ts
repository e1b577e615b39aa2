/**
 * The calls of Auth's admin API that the service needs and @supabase/lite does not have: supabase-js reads a user
 * before it removes it.
 */
import type { Database } from "../database/database.ts";
import type { Secrets } from "./secrets.ts";

const USER = /^\/auth\/v1\/admin\/users\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** Answers `GET` and `DELETE /auth/v1/admin/users/{id}` as Supabase Auth does; null for any other request. */
export async function administerUser(
  request: Request,
  database: Database,
  { secretKey, serviceRoleKey }: Secrets,
): Promise<Response | null> {
  const [, id] = USER.exec(new URL(request.url).pathname) ?? [];
  if (id === undefined || request.method !== "GET" && request.method !== "DELETE") return null;
  await request.body?.cancel();
  const key = request.headers.get("apikey");
  if (key !== secretKey && key !== serviceRoleKey) return refuse(403, "not_admin", "User not allowed");
  const [user] = await database.query(
    request.method === "GET"
      ? "select id, email, created_at from auth.users where id = $1"
      // The database deletes the user's sessions, refresh tokens and identities with it.
      : "delete from auth.users where id = $1 returning id",
    [id],
  );
  if (user === undefined) return refuse(404, "user_not_found", "User not found");
  return Response.json(request.method === "GET" ? user : {});
}

function refuse(status: number, code: string, message: string): Response {
  return Response.json({ code: status, error_code: code, msg: message }, { status });
}
