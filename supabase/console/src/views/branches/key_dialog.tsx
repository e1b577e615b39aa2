/** Creates a key that is confined to a branch. The page "Connect" then shows what to paste, and waits for its first call. */
import { useState } from "preact/hooks";
import type { Branch } from "../../api/branches.ts";
import { reasonFor } from "../../api/failure.ts";
import { createKey } from "../../api/projects.ts";
import { FormDialog, FormProblem, TextField, useSubmit } from "../../components/form.tsx";
import { keepMadeKey } from "../../state/keys.ts";
import { goTo } from "../../state/router.ts";

interface Properties {
  readonly projectId: string;
  readonly branch: Branch;
  readonly onClose: () => void;
}

export function KeyDialog({ projectId, branch: { name: branch, path, expiresAt }, onClose }: Properties) {
  const [name, setName] = useState(`agent in ${branch}`);
  const { isBusy, error, submit } = useSubmit(async () => {
    const settings = { name: name || undefined, environment: "development", scopes: ["read", "write"] };
    keepMadeKey(projectId, await createKey(projectId, { ...settings, pathPrefix: path, expiresAt }));
    onClose();
    goTo({ name: "connect", projectId });
  });
  return (
    <FormDialog title={`A key for ${branch}`} action="Create key" {...{ isBusy, submit, onClose }}>
      <p class="hint">
        It reads and writes in this branch alone, until the branch closes, and may mark the branch as ready.
        The next page has the key, and what to paste into the settings of the agent.
      </p>
      <TextField
        label="Name"
        value={name}
        onInput={setName}
        hint="The agent or machine that uses it."
        problem={reasonFor(error, "name")}
        input={{ autoComplete: "off", autoFocus: true }}
      />
      <FormProblem error={error} fields={["name"]} />
    </FormDialog>
  );
}
