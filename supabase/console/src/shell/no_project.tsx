/** Shown if only the operator creates projects, or if this account may not create any. */
import { readAccount } from "../api/projects.ts";
import { Invitations } from "../components/invitations.tsx";
import { Pending } from "../components/states.tsx";
import { WhyNoProject } from "../components/why_no_project.tsx";
import { signOut } from "../session/session.ts";
import { useLoad } from "../state/use_load.ts";

export function NoProject({ onReload }: { readonly onReload: () => void }) {
  const { data: account, error, reload } = useLoad("account", readAccount);
  const lookAgain = () => {
    reload();
    onReload();
  };
  return (
    <div class="signin-card">
      <h1>No project yet</h1>
      <Invitations />
      {account !== undefined
        ? account.mayCreateProjects
          // The operator has allowed projects since the list was requested.
          ? <p>You can create projects now. Check again to open your first one.</p>
          : <WhyNoProject account={account} />
        : <Pending error={error} what="what you may do" />}
      <button type="button" class="primary" onClick={lookAgain}>Check again</button>
      <button type="button" onClick={signOut}>Sign out</button>
    </div>
  );
}
