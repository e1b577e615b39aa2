/** The project's usage, limits, retention, members, webhooks and name, the account's password, and the deletion of project and account. */
import { useState } from "preact/hooks";
import { VERSION } from "../../../functions/api/version.ts";
import { reasonFor } from "../api/failure.ts";
import { type Project, renameProject } from "../api/projects.ts";
import { formatBytes, formatNumber, formatTime, visible } from "../format.ts";
import { NewPasswordForm } from "../components/new_password_form.tsx";
import { FormProblem, TextField, useSubmit } from "../components/form.tsx";
import { Problem } from "../components/states.tsx";
import { UsageBars } from "../components/usage_bars.tsx";
import { AccountCard } from "./settings/account_card.tsx";
import { LimitDetails } from "./settings/limits_card.tsx";
import { MembersCard } from "./settings/members/members_card.tsx";
import { TransferDialog } from "./settings/members/transfer_dialog.tsx";
import { RetentionCard } from "./settings/retention_card.tsx";
import { UsageCard } from "./settings/usage_card.tsx";
import { WebhooksCard } from "./settings/webhooks/webhooks_card.tsx";
import { DeleteAccountDialog, DeleteProjectDialog } from "./settings/delete_dialogs.tsx";
import { useLoad } from "../state/use_load.ts";
import { hrefOf, type SettingsPlace } from "../state/router.ts";
import { notify } from "../state/notices.ts";
import { may, project, refreshProject, updateProject } from "../state/projects.ts";
import { account } from "../session/session.ts";

const TABS: readonly (readonly [SettingsPlace["tab"], string])[] = [
  [undefined, "Usage and limits"],
  ["retention", "Retention"],
  ["members", "Members"],
  ["webhooks", "Webhooks"],
  ["account", "Project and account"],
  ["danger", "Danger zone"],
];

/** Pages that the service shows to admins alone. */
const OF_ADMINS: ReadonlySet<string> = new Set(["retention", "webhooks"]);

export function SettingsView({ place }: { readonly place: SettingsPlace }) {
  const current = project.value;
  const id = current?.id ?? "";
  const { error, reload } = useLoad(`project ${id}`, (signal) => refreshProject(id, signal));
  if (current === undefined) return null;
  return (
    <section class="view settings" aria-labelledby="settings-title">
      <div class="view-head">
        <h1 id="settings-title">Settings and usage</h1>
      </div>
      <nav class="tabs" aria-label="Settings">
        {TABS.filter(([tab]) => may("admin") || tab === undefined || !OF_ADMINS.has(tab)).map((
          [tab, text],
        ) => (
          <a
            key={text}
            href={hrefOf({ name: "settings", projectId: id, tab })}
            aria-current={place.tab === tab ? "page" : undefined}
          >
            {text}
          </a>
        ))}
      </nav>
      {error !== undefined && <Problem error={error} onRetry={reload} />}
      <Tab tab={place.tab} project={current} />
      <p class="hint">Filestore {VERSION}</p>
    </section>
  );
}

function Tab({ tab, project: current }: { readonly tab: SettingsPlace["tab"]; readonly project: Project }) {
  switch (tab) {
    case undefined:
      return (
        <>
          <section class="card" aria-labelledby="usage-title">
            <h2 id="usage-title">Usage now</h2>
            <Tier project={current} />
            <UsageBars project={current} />
            <LimitDetails project={current} />
          </section>
          <UsageCard key={`usage ${current.id}`} projectId={current.id} />
        </>
      );
    case "retention":
      return <RetentionCard key={`retention ${current.id}`} project={current} />;
    case "members":
      return <MembersCard key={`members ${current.id}`} project={current} />;
    case "webhooks":
      return <WebhooksCard key={`webhooks ${current.id}`} project={current} />;
    case "account":
      return (
        <>
          <ProjectCard project={current} />
          <AccountCard />
          <section class="card" aria-labelledby="account-title">
            <h2 id="account-title">Account</h2>
            <p>Signed in as {account.value?.email}.</p>
            <NewPasswordForm onDone={() => {}} />
          </section>
        </>
      );
    case "danger":
      return <DangerCard project={current} />;
  }
}

function ProjectCard({ project }: { readonly project: Project }) {
  return (
    <section class="card" aria-labelledby="name-title">
      <h2 id="name-title">Project</h2>
      {may("admin") ? <RenameForm key={project.id} project={project} /> : <p>{visible(project.name)}</p>}
      <p class="hint">
        Created {formatTime(project.createdAt)}. Id <code>{project.id}</code>
      </p>
    </section>
  );
}

/** What cannot be undone, apart from all other settings. */
function DangerCard({ project }: { readonly project: Project }) {
  const [asked, setAsked] = useState<"transfer" | "project" | "account" | null>(null);
  const close = () => setAsked(null);
  return (
    <section class="card danger-zone" aria-labelledby="danger-title">
      <h2 id="danger-title">Danger zone</h2>
      {project.role === "owner" && (
        <>
          <div class="danger-row">
            <p>
              <strong>Transfer {visible(project.name)}</strong>{" "}
              to a member, who becomes its owner. You stay as an admin.
            </p>
            <button type="button" class="danger" onClick={() => setAsked("transfer")}>
              Transfer project
            </button>
          </div>
          <div class="danger-row">
            <p>
              <strong>Delete {visible(project.name)}</strong>: all of its files, keys and links. You cannot
              undo this.
            </p>
            <button type="button" class="danger" onClick={() => setAsked("project")}>Delete project</button>
          </div>
        </>
      )}
      <div class="danger-row">
        <p>
          <strong>Delete the account {account.value?.email}</strong>: all of its projects. You cannot undo
          this.
        </p>
        <button type="button" class="danger" onClick={() => setAsked("account")}>Delete account</button>
      </div>
      {asked === "transfer" && <TransferDialog project={project} onClose={close} />}
      {asked === "project" && <DeleteProjectDialog project={project} onClose={close} />}
      {asked === "account" && <DeleteAccountDialog email={account.value?.email ?? ""} onClose={close} />}
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
