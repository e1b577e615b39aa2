/** Supabase Auth's errors in words, beside the field that they are about. */
import { isAuthError } from "@supabase/supabase-js";

export interface AuthProblem {
  /** Null: about none of the fields. */
  readonly field: "email" | "password" | null;
  readonly text: string;
}

const FIELDS: Readonly<Record<string, AuthProblem["field"]>> = {
  email_address_invalid: "email",
  email_address_not_authorized: "email",
  email_exists: "email",
  user_already_exists: "email",
  same_password: "password",
  weak_password: "password",
};

export function authProblem(error: unknown): AuthProblem {
  if (!isAuthError(error)) {
    return { field: null, text: error instanceof Error ? error.message : String(error) };
  }
  if (error.name === "AuthRetryableFetchError") {
    return { field: null, text: "The service cannot be reached. Try again in a moment." };
  }
  if (error.code === "invalid_credentials") {
    return { field: null, text: "E-mail and password do not belong together." };
  }
  return { field: FIELDS[error.code ?? ""] ?? fieldNamed(error.message), text: error.message };
}

/** Auth's validation errors name the field in their text only. */
function fieldNamed(message: string): AuthProblem["field"] {
  if (/password/i.test(message)) return "password";
  return /e-?mail/i.test(message) ? "email" : null;
}
