/** A person who has signed up, with a session as the browser stores it and a project to fill. */
import * as z from "zod";
import type { Stack } from "../../../supabase/local/stack/stack.ts";
import { Files } from "../client/files.ts";
import type { Service, Tier } from "../stack/service.ts";

const sessionShape = z.looseObject({
  access_token: z.string(),
  refresh_token: z.string(),
  expires_in: z.number(),
});
const projectsShape = z.object({ data: z.object({ projects: z.array(z.object({ id: z.string() })) }) });

/** An account, and its first project. */
export interface Account {
  readonly email: string;
  readonly password: string;
  /** The session as supabase-js stores it in the browser. */
  readonly session: string;
  readonly projectId: string;
}

export interface Person extends Account {
  /** The project's files, accessed with a key of its own. */
  readonly files: Files;
}

/** Signs a person up; their first project gets the tier. */
export async function newPerson(
  service: Service,
  tier: Tier = "enterprise",
  email?: string,
): Promise<Person> {
  const account = await signUp(service.stack, email);
  await service.setTier(account.projectId, tier);
  const { key } = await service.key(account.projectId);
  return { ...account, files: new Files(service, key) };
}

/** Signs up as a visitor does. */
export async function signUp(
  { supabaseUrl, publishableKey, baseUrl }: Pick<Stack, "supabaseUrl" | "publishableKey" | "baseUrl">,
  email = `${crypto.randomUUID()}@example.com`,
): Promise<Account> {
  const password = `p-${crypto.randomUUID()}`;
  const answer = await fetch(`${supabaseUrl}/auth/v1/signup`, {
    method: "POST",
    headers: { apikey: publishableKey, "content-type": "application/json" },
    body: JSON.stringify({ email, password }),
  });
  const session = sessionShape.parse(await answer.json());
  const listed = await fetch(`${baseUrl}/projects`, {
    headers: { authorization: `Bearer ${session.access_token}` },
  });
  const [project] = projectsShape.parse(await listed.json()).data.projects;
  if (project === undefined) throw new Error("the account has no project");
  const expiresAt = Math.floor(Date.now() / 1000) + session.expires_in;
  return {
    email,
    password,
    session: JSON.stringify({ expires_at: expiresAt, ...session }),
    projectId: project.id,
  };
}
