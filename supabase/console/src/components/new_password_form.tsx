import { useState } from "preact/hooks";
import { authProblem } from "../session/auth_problem.ts";
import { supabase } from "../session/session.ts";
import { notify } from "../state/notices.ts";
import { TextField, useSubmit } from "./form.tsx";

export function NewPasswordForm({ onDone }: { readonly onDone: () => void }) {
  const [password, setPassword] = useState("");
  const { isBusy, error, submit } = useSubmit(async () => {
    const { error } = await supabase().auth.updateUser({ password });
    if (error !== null) throw error;
    setPassword("");
    notify("Your password was changed.");
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
