/** @jsxImportSource preact */
/// <reference lib="dom" />
/** A new password: after a reset link, or from the settings. */
import { useState } from "preact/hooks";
import { TextField } from "../../components/field.tsx";
import { useSubmit } from "../../components/submit.ts";
import { notify } from "../../state/notices.ts";
import { needsNewPassword, supabase } from "../../session/session.ts";
import { authProblem } from "./auth_problem.ts";

export function NewPasswordPage() {
  const done = () => needsNewPassword.value = false;
  return (
    <main class="signin">
      <div class="signin-card">
        <p class="brand">
          <img src="icon.svg" alt="" width="28" height="28" />Filestore
        </p>
        <h1>Choose a new password</h1>
        <NewPasswordForm onDone={done} />
        <nav class="signin-links" aria-label="Other choices">
          <button type="button" class="link" onClick={done}>Keep the old one</button>
        </nav>
      </div>
    </main>
  );
}

export function NewPasswordForm({ onDone }: { readonly onDone: () => void }) {
  const [password, setPassword] = useState("");
  const { isBusy, error, submit } = useSubmit(async () => {
    const { error } = await supabase().auth.updateUser({ password });
    if (error !== null) throw error;
    setPassword("");
    notify("The password is changed.");
    onDone();
  });
  return (
    <form onSubmit={submit} noValidate>
      <TextField
        label="New password"
        type="password"
        value={password}
        onInput={setPassword}
        problem={error === undefined ? undefined : authProblem(error).text}
        input={{ autoComplete: "new-password", required: true }}
      />
      <button type="submit" class="primary" disabled={isBusy}>Change password</button>
    </form>
  );
}
