/// <reference lib="dom" />
/** Who is signed in. supabase-js keeps the session in the browser and renews it. */
import { signal } from "@preact/signals";
import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import { config } from "../config.ts";
import { type AuthCallback, readAuthCallback } from "./auth_callback.ts";

export interface Account {
  readonly id: string;
  readonly email: string;
}

/** Null: signed out. Undefined: not known yet. */
export const account = signal<Account | null | undefined>(undefined);
/** A session ended without being signed out: what was on the screen comes back after sign-in. */
export const hasExpired = signal(false);
/** A reset link was followed: a new password is to be chosen. */
export const needsNewPassword = signal(false);
/** Why a link did not work. */
export const linkProblem = signal<string | null>(null);

let client: SupabaseClient | undefined;

export function supabase(): SupabaseClient {
  if (client === undefined) throw new Error("the session is not open yet");
  return client;
}

/** Finds the session that the browser kept, or the one that a link in a mail brings. */
export async function openSession(): Promise<void> {
  const callback = readAuthCallback();
  const { supabaseUrl, publishableKey } = config();
  client = createClient(supabaseUrl, publishableKey, {
    auth: { flowType: "pkce", detectSessionInUrl: false, persistSession: true, autoRefreshToken: true },
  });
  client.auth.onAuthStateChange((event, session) => {
    if (event === "PASSWORD_RECOVERY") needsNewPassword.value = true;
    if (event === "SIGNED_OUT") return end();
    if (session !== null) begin({ id: session.user.id, email: session.user.email ?? "" });
  });
  if (callback !== null) await handleAuthCallback(callback);
  const { data: { session } } = await client.auth.getSession();
  if (session === null) account.value = null;
  else begin({ id: session.user.id, email: session.user.email ?? "" });
}

/** The token to send, renewed when it is about to expire; null when nobody is signed in. */
export async function accessToken(): Promise<string | null> {
  const { data: { session } } = await supabase().auth.getSession();
  return session?.access_token ?? null;
}

/** After a 401: whether there is a new token to try. If not, the person has to sign in again. */
export async function renewSession(): Promise<boolean> {
  const { data: { session }, error } = await supabase().auth.refreshSession();
  if (session !== null) return true;
  // Without a connection nothing is known about the session.
  if (error?.name === "AuthRetryableFetchError") return false;
  hasExpired.value = true;
  account.value = null;
  return false;
}

/** Signs this browser out; other devices stay signed in. */
export async function signOut(): Promise<void> {
  isLeaving = true;
  await supabase().auth.signOut({ scope: "local" });
  end();
  isLeaving = false;
}

let isLeaving = false;

function begin(next: Account): void {
  hasExpired.value = false;
  const known = account.value;
  if (known?.id !== next.id || known.email !== next.email) account.value = next;
}

function end(): void {
  hasExpired.value = !isLeaving && (account.value !== null || hasExpired.value);
  account.value = null;
}

async function handleAuthCallback(callback: AuthCallback): Promise<void> {
  const { auth } = supabase();
  if (callback.kind === "problem") {
    linkProblem.value = callback.message;
    return;
  }
  const { error } = callback.kind === "code"
    ? await auth.exchangeCodeForSession(callback.code)
    : await auth.setSession({ access_token: callback.accessToken, refresh_token: callback.refreshToken });
  if (error !== null) linkProblem.value = `The link did not work: ${error.message}`;
  else if (callback.isRecovery) needsNewPassword.value = true;
}
