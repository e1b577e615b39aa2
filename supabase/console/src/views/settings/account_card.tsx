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
            Who may sign up and make projects is set by the operator of this service, with{" "}
            <code>deno task projects makers</code>.
          </p>
          <h3>Limits of your account</h3>
          <LimitList limits={ofAccount(account)} />
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
        ? "Anyone who signs up here may make projects, and so may you."
        : "Only e-mail addresses that the operator of this service has listed may make projects. Yours is one of them."}
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
        "Delete one that is not needed to make another. It is the same for everybody; the operator of this service can " +
        "give you one more.",
    },
    {
      name: "Shared storage",
      value: maxSharedBytes === null ? "no limit" : formatBytes(maxSharedBytes),
      meaning: maxSharedBytes === null
        ? "Each project may use the storage that it has by itself."
        : "Your projects that have the storage of their tier use it together, and none more than its own. When it is " +
          "used up, writes to them are refused and everything stays readable. " +
          "The operator of this service raises it for all accounts with deno task projects account-quota, or gives a " +
          "project storage of its own, which takes nothing from it.",
    },
    {
      name: "Requests about projects and keys per minute",
      value: formatNumber(requestsPerMinute),
      meaning:
        "Of this console and whatever else is signed in as you; files count in their project. Those above it are " +
        "refused until the minute is over. It is the same for everybody.",
    },
  ];
}
