/** The form to sign in, to sign up, to request a sign-in link, or to reset the password. */
import { useState } from "preact/hooks";
import { config } from "../../config.ts";
import { TextField, useSubmit } from "../../components/form.tsx";
import { Icon } from "../../components/icon.tsx";
import { prepareAuthCallback } from "../../session/auth_callback.ts";
import { hasExpired, linkProblem, supabase } from "../../session/session.ts";
import { type AuthProblem, authProblem } from "../../session/auth_problem.ts";
import { LocalMail } from "./local_mail.tsx";
import { SignInCard } from "./sign_in_card.tsx";

type Purpose = "sign-in" | "sign-up" | "link" | "reset";

const TEXTS: Record<Purpose, { readonly title: string; readonly button: string }> = {
  "sign-in": { title: "Sign in", button: "Sign in" },
  "sign-up": { title: "Create an account", button: "Create account" },
  link: { title: "Sign in by e-mail", button: "Send link" },
  reset: { title: "Reset your password", button: "Send reset link" },
};

export function SignIn() {
  const [purpose, setPurpose] = useState<Purpose>("sign-in");
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [sent, setSent] = useState<string | null>(null);
  const { isBusy, error, submit } = useSubmit(async () => {
    linkProblem.value = null;
    setSent(await attempt(purpose, email.trim(), password));
  });
  const problem = error === undefined ? null : authProblem(error);
  const choose = (next: Purpose) => {
    setPurpose(next);
    setSent(null);
  };
  const { title, button } = TEXTS[purpose];
  return (
    <SignInCard title={title}>
      {hasExpired.value && (
        <p class="note" role="status">Your session has expired. Sign in to continue where you left off.</p>
      )}
      {linkProblem.value && <p class="form-problem" role="alert">{linkProblem.value}</p>}
      {sent === null
        ? (
          <form onSubmit={submit} noValidate key={purpose}>
            <Fields {...{ purpose, email, setEmail, password, setPassword, problem }} />
            {problem?.field === null && <p class="form-problem" role="alert">{problem.text}</p>}
            <button type="submit" class="primary" disabled={isBusy}>
              {isBusy ? "One moment …" : button}
            </button>
          </form>
        )
        : (
          <>
            <p class="note" role="status">{sent}</p>
            <LocalMail to={email.trim()} />
          </>
        )}
      {config().github && (purpose === "sign-in" || purpose === "sign-up") && <GitHubButton />}
      <Others purpose={purpose} choose={choose} />
    </SignInCard>
  );
}

interface FieldsProperties {
  readonly purpose: Purpose;
  readonly email: string;
  readonly setEmail: (value: string) => void;
  readonly password: string;
  readonly setPassword: (value: string) => void;
  readonly problem: AuthProblem | null;
}

function Fields({ purpose, email, setEmail, password, setPassword, problem }: FieldsProperties) {
  const needsPassword = purpose === "sign-in" || purpose === "sign-up";
  return (
    <>
      <TextField
        label="E-mail"
        type="email"
        value={email}
        onInput={setEmail}
        problem={problem?.field === "email" ? problem.text : undefined}
        input={{ autoComplete: "email", required: true, autoFocus: true }}
      />
      {needsPassword && (
        <TextField
          label="Password"
          type="password"
          value={password}
          onInput={setPassword}
          problem={problem?.field === "password" ? problem.text : undefined}
          input={{
            autoComplete: purpose === "sign-up" ? "new-password" : "current-password",
            required: true,
          }}
        />
      )}
    </>
  );
}

function GitHubButton() {
  const { isBusy, error, submit } = useSubmit(async () => {
    const redirectTo = prepareAuthCallback("sign-in");
    succeeded(await supabase().auth.signInWithOAuth({ provider: "github", options: { redirectTo } }));
  });
  return (
    <div class="signin-other">
      <button type="button" disabled={isBusy} onClick={submit}>Continue with GitHub</button>
      {error !== undefined && <p class="form-problem" role="alert">{authProblem(error).text}</p>}
    </div>
  );
}

function Others(
  { purpose, choose }: { readonly purpose: Purpose; readonly choose: (next: Purpose) => void },
) {
  const offers: readonly (readonly [Purpose, string])[] = [
    ["sign-in", "Sign in with a password"],
    ["sign-up", "Create an account"],
    ["link", "Send me a sign-in link"],
    ["reset", "Forgot your password?"],
  ];
  return (
    <nav class="signin-links" aria-label="Other ways to sign in">
      {offers.filter(([name]) => name !== purpose).map(([name, text]) => (
        <button
          key={name}
          type="button"
          class="link"
          onClick={() => choose(name)}
        >
          {name === "sign-in" && <Icon name="back" />}
          {text}
        </button>
      ))}
    </nav>
  );
}

/** Returns the message to show after an e-mail was sent, or null if the session has begun. Throws Supabase Auth's error. */
async function attempt(purpose: Purpose, email: string, password: string): Promise<string | null> {
  const { auth } = supabase();
  if (purpose === "sign-in") {
    succeeded(await auth.signInWithPassword({ email, password }));
    return null;
  }
  if (purpose === "reset") {
    const redirectTo = prepareAuthCallback("recovery");
    succeeded(await auth.resetPasswordForEmail(email, { redirectTo }));
    return `If ${email} has an account, a link to choose a new password is on its way.`;
  }
  const options = { emailRedirectTo: prepareAuthCallback("sign-in") };
  if (purpose === "link") {
    succeeded(await auth.signInWithOtp({ email, options }));
    return `A link that signs you in is on its way to ${email}. Open it in this browser.`;
  }
  const answer = await auth.signUp({ email, password, options });
  succeeded(answer);
  return answer.data.session === null
    ? `Confirm your address: a link is on its way to ${email}. Open it in this browser.`
    : null;
}

function succeeded({ error }: { readonly error: Error | null }): void {
  if (error !== null) throw error;
}
