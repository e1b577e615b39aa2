import type { ComponentChildren } from "preact";
import { NewPasswordForm } from "../../components/new_password_form.tsx";
import { needsNewPassword } from "../../session/session.ts";

interface Properties {
  readonly title: string;
  readonly children: ComponentChildren;
}

/** A page without the frame of a project: the brand, a title and a form. */
export function SignInCard({ title, children }: Properties) {
  return (
    <main class="signin">
      <div class="signin-card">
        <p class="brand">
          <img src="icon.svg" alt="" width="28" height="28" />Filestore
        </p>
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}

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
