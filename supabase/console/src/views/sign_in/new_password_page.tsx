/** The page that a reset link opens. */
import { NewPasswordForm } from "../../components/new_password_form.tsx";
import { needsNewPassword } from "../../session/session.ts";
import { SignInCard } from "./sign_in_card.tsx";

export function NewPasswordPage() {
  const done = () => needsNewPassword.value = false;
  return (
    <SignInCard title="Choose a new password">
      <NewPasswordForm onDone={done} />
      <nav class="signin-links" aria-label="Other choices">
        <button type="button" class="link" onClick={done}>Keep the old password</button>
      </nav>
    </SignInCard>
  );
}
