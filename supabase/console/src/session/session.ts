/** The signed-in account. supabase-js stores the session in the browser and renews it. */
import { signal } from "@preact/signals";
import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import { config } from "../config.ts";
import { type AuthCallback, readAuthCallback } from "./auth_callback.ts";

export interface Account {
  readonly id: string;
  readonly email: string;
}

/** Null: signed out. Undefined: not loaded yet. */
export const account = signal<Account | null | undefined>(undefined);
/** The session has ended without a sign-out: the current view is restored after the next sign-in. */
export const hasExpired = signal(false);
/** A reset link was opened: the user has to choose a new password. */
export const needsNewPassword = signal(false);
/** Why a sign-in link failed, or null. */
export const linkProblem = signal<string | null>(null);

let client: SupabaseClient | undefined;

export function supabase(): SupabaseClient {
  if (client === undefined) throw new Error("the session is not open yet");
  return client;
}

/** Opens the session stored in the browser, or the one that a sign-in link starts. */
export async function openSession(): Promise<void> {
  const { supabaseUrl, publishableKey, localMail } = config();
  // The local stack's Auth supports PKCE for providers, but puts tokens into the links of its mails.
  const callback = readAuthCallback(localMail === true);
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

/** Returns the access token, renewed if it is about to expire, or null if nobody is signed in. */
export async function accessToken(): Promise<string | null> {
  const { data: { session } } = await supabase().auth.getSession();
  return session?.access_token ?? null;
}

/** Renews the session after a 401. Returns false if that is impossible and the user has to sign in again. */
export async function renewSession(): Promise<boolean> {
  const { data: { session }, error } = await supabase().auth.refreshSession();
  if (session !== null) return true;
  // Without a connection the session may still be valid.
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
