/** Messages for the errors of Supabase Auth, and the field that each concerns. */
import { isAuthError } from "@supabase/supabase-js";

export interface AuthProblem {
  /** Null: the error concerns no particular field. */
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
    return { field: null, text: "Wrong e-mail or password." };
  }
  return { field: FIELDS[error.code ?? ""] ?? fieldNamed(error.message), text: error.message };
}

/** Validation errors of Auth name the field in their message only. */
function fieldNamed(message: string): AuthProblem["field"] {
  if (/password/i.test(message)) return "password";
  return /e-?mail/i.test(message) ? "email" : null;
}
