/** The project's usage, limits, retention and name, the account's password, and the deletion of project and account. */
import { useState } from "preact/hooks";
import { reasonFor } from "../api/failure.ts";
import { type Project, renameProject } from "../api/projects.ts";
import { formatBytes, formatNumber, formatTime } from "../format.ts";
import { NewPasswordForm } from "../components/new_password_form.tsx";
import { FormProblem, TextField, useSubmit } from "../components/form.tsx";
import { Problem } from "../components/states.tsx";
import { UsageBars } from "../components/usage_bars.tsx";
import { AccountCard } from "./settings/account_card.tsx";
import { LimitsCard } from "./settings/limits_card.tsx";
import { RetentionCard } from "./settings/retention_card.tsx";
import { UsageCard } from "./settings/usage_card.tsx";
import { DeleteAccountDialog, DeleteProjectDialog } from "./settings/delete_dialogs.tsx";
import { useLoad } from "../state/use_load.ts";
import { notify } from "../state/notices.ts";
import { project, refreshProject, updateProject } from "../state/projects.ts";
import { account } from "../session/session.ts";

export function SettingsView() {
  const current = project.value;
  const id = current?.id ?? "";
  const { error, reload } = useLoad(`project ${id}`, (signal) => refreshProject(id, signal));
  const [deleting, setDeleting] = useState<"project" | "account" | null>(null);
  const close = () => setDeleting(null);
  if (current === undefined) return null;
  return (
    <section class="view settings" aria-labelledby="settings-title">
      <div class="view-head">
        <h1 id="settings-title">Settings and usage</h1>
      </div>
      {error !== undefined && <Problem error={error} onRetry={reload} />}
      <section class="card" aria-labelledby="usage-title">
        <h2 id="usage-title">Usage now</h2>
        <Tier project={current} />
        <UsageBars project={current} />
      </section>
      <UsageCard key={`usage ${current.id}`} projectId={current.id} />
      <LimitsCard project={current} />
      <RetentionCard key={`retention ${current.id}`} project={current} />
      <section class="card" aria-labelledby="name-title">
        <h2 id="name-title">Project</h2>
        <RenameForm key={current.id} project={current} />
        <p class="hint">
          Created {formatTime(current.createdAt)}. Id <code>{current.id}</code>
        </p>
        <button type="button" class="danger" onClick={() => setDeleting("project")}>Delete project</button>
      </section>
      <AccountCard />
      <section class="card" aria-labelledby="account-title">
        <h2 id="account-title">Account</h2>
        <p>Signed in as {account.value?.email}.</p>
        <NewPasswordForm onDone={() => {}} />
        <button type="button" class="danger" onClick={() => setDeleting("account")}>Delete account</button>
      </section>
      {deleting === "project" && <DeleteProjectDialog project={current} onClose={close} />}
      {deleting === "account" && <DeleteAccountDialog email={account.value?.email ?? ""} onClose={close} />}
    </section>
  );
}

function Tier({ project: { tier, limits } }: { readonly project: Project }) {
  const requests = limits.requestsPerMinute === null
    ? "no limit on requests"
    : `${formatNumber(limits.requestsPerMinute)} requests per minute`;
  const size = limits.maxFileBytes === null
    ? "files of any size"
    : `files of up to ${formatBytes(limits.maxFileBytes)}`;
  return (
    <p>
      Tier <strong class="tag">{tier}</strong> {requests}, {size}.
    </p>
  );
}

function RenameForm({ project: { id, name } }: { readonly project: Project }) {
  const [text, setText] = useState(name);
  const { isBusy, error, submit } = useSubmit(async () => {
    updateProject(await renameProject(id, text));
    notify("The project was renamed.");
  });
  const problem = reasonFor(error, "name", "PROJECT_NAME_TAKEN");
  return (
    <form class="inline-form" onSubmit={submit} noValidate>
      <TextField
        label="Project name"
        value={text}
        onInput={setText}
        problem={problem}
        input={{ autoComplete: "off" }}
      />
      <button type="submit" disabled={isBusy || text === name}>Rename</button>
      {problem === undefined && <FormProblem error={error} fields={["name"]} />}
    </form>
  );
}
