/** @jsxImportSource preact */
/// <reference lib="dom" />
/** The page that a reset link opens. */
import { NewPasswordForm } from "../../components/new_password_form.tsx";
import { needsNewPassword } from "../../session/session.ts";

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
          <button type="button" class="link" onClick={done}>Keep the old password</button>
        </nav>
      </div>
    </main>
  );
}
