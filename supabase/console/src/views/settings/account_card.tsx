/** The operator's settings for this person: whether they may create projects, and the quota for all of their projects. */
import { type Account, readAccount } from "../../api/projects.ts";
import { Bar } from "../../components/usage_bars.tsx";
import { Pending } from "../../components/states.tsx";
import { WhyNoProject } from "../../components/why_no_project.tsx";
import { formatBytes, formatNumber } from "../../format.ts";
import { useLoad } from "../../state/use_load.ts";
import { type Limit, LimitList } from "./limits_card.tsx";

export function AccountCard() {
  const { data: account, error, reload } = useLoad("account", readAccount);
  return (
    <section class="card" aria-labelledby="all-projects-title">
      <h2 id="all-projects-title">All of your projects</h2>
      {account === undefined ? <Pending {...{ error, reload }} what="your account" /> : (
        <>
          <Bars account={account} />
          <h3>New projects</h3>
          <Makers account={account} />
          <p class="hint">
            The operator of this service sets who may sign up and create projects, with{" "}
            <code>deno task projects makers</code>.
          </p>
          <details>
            <summary>Limits of your account</summary>
            <LimitList limits={ofAccount(account)} />
          </details>
        </>
      )}
    </section>
  );
}

function Bars({ account: { limits, usage } }: { readonly account: Account }) {
  return (
    <div class="bars">
      <Bar label="Projects" value={usage.projects} max={limits.maxProjects} format={formatNumber} />
      <Bar
        label="Shared storage"
        value={usage.sharedBytes}
        max={limits.maxSharedBytes}
        format={formatBytes}
      />
    </div>
  );
}

function Makers({ account }: { readonly account: Account }) {
  if (!account.mayCreateProjects) return <WhyNoProject account={account} />;
  return (
    <p>
      {account.projectMakers === "anyone"
        ? "Anyone who signs up here may create projects, and so may you."
        : "Only e-mail addresses that the operator of this service has listed may create projects. Yours is one of them."}
    </p>
  );
}

function ofAccount(
  { limits: { requestsPerMinute, maxProjects, maxSharedBytes } }: Account,
): readonly Limit[] {
  return [
    {
      name: "Projects",
      value: formatNumber(maxProjects),
      meaning:
        "Delete one to create another. The limit is the same for everybody; the operator of this service can give " +
        "you another project.",
    },
    {
      name: "Shared storage",
      value: maxSharedBytes === null ? "no limit" : formatBytes(maxSharedBytes),
      meaning: maxSharedBytes === null
        ? "Each project may use the storage that it has by itself."
        : "Your projects that have the storage of their tier use it together. When it is used up, writes to them are " +
          "refused and everything stays readable. The operator of this service can raise it, or give a project " +
          "storage of its own.",
    },
    {
      name: "Requests about projects and keys per minute",
      value: formatNumber(requestsPerMinute),
      meaning:
        "Of this console and everything else that is signed in as you; requests about files count in their project. " +
        "Further requests are refused until the minute is over.",
    },
  ];
}
