/** A person who has signed up, with a session as the browser stores it and a project to fill. */
import { Account, register } from "../client/accounts.ts";
import { Files } from "../client/files.ts";
import type { Service, Tier } from "../stack/service.ts";

export interface Person {
  readonly email: string;
  readonly password: string;
  /** The session as supabase-js stores it in the browser. */
  readonly session: string;
  readonly projectId: string;
  /** The project's files, accessed with a key of its own. */
  readonly files: Files;
}

/** Signs a person up; their first project gets the tier. */
export async function newPerson(
  service: Service,
  tier: Tier = "enterprise",
  email?: string,
): Promise<Person> {
  const { session, ...login } = await register(service.stack, email);
  const project = await new Account(service, session.access_token).createProject("My project");
  await service.setTier(project.id, tier);
  const { key } = await service.key(project.id);
  const expiresAt = Math.floor(Date.now() / 1000) + session.expires_in;
  return {
    ...login,
    session: JSON.stringify({ expires_at: expiresAt, ...session }),
    projectId: project.id,
    files: new Files(service, key),
  };
}
