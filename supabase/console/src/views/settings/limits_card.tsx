/** The limits of the project: what happens at each, and how to raise it. */
import type { Project } from "../../api/projects.ts";
import { CopyButton } from "../../components/copy.tsx";
import { formatBytes, formatNumber } from "../../format.ts";

export function LimitDetails({ project }: { readonly project: Project }) {
  return (
    <>
      <details>
        <summary>What happens at each limit</summary>
        <LimitList limits={ofProject(project)} />
      </details>
      {Object.values(project.limits).some((limit) => limit !== null) && (
        <details>
          <summary>Raise a limit</summary>
          <HowRaised project={project} />
        </details>
      )}
    </>
  );
}

/** The next tier has higher limits, but the command also removes limits that were set for this project alone. */
function HowRaised({ project: { id, tier } }: { readonly project: Project }) {
  const command = `deno task projects tier ${id} ${tier === "free" ? "pro" : "enterprise"}`;
  return (
    <>
      <p>
        The operator of this service can raise the limits of the tier{" "}
        <strong>{tier}</strong>. Send them this command:
      </p>
      <p class="command">
        <code>{command}</code>
        <CopyButton text={command} what="the command" />
      </p>
      <p class="hint">
        With <code>--requests-per-minute</code>, <code>--max-file-bytes</code> and{" "}
        <code>--max-project-bytes</code>, they give the project limits of its own.
      </p>
    </>
  );
}

function ofProject(
  { limits: { requestsPerMinute, maxFileBytes, maxProjectBytes } }: Project,
): readonly Limit[] {
  return [
    {
      name: "Requests per minute",
      value: requestsPerMinute === null ? "no limit" : formatNumber(requestsPerMinute),
      meaning:
        "For all keys and this console together. Further requests are refused until the minute is over, and agents " +
        "are told how long to wait.",
    },
    {
      name: "Size of a file",
      value: maxFileBytes === null ? "no limit" : formatBytes(maxFileBytes),
      meaning: "A write that would make a file larger is refused. Larger files stay readable.",
    },
    {
      name: "Storage",
      value: maxProjectBytes === null ? "no limit" : formatBytes(maxProjectBytes),
      meaning:
        "When it is used up, writes are refused and everything stays readable. Erase files for good, or set a " +
        "retention rule, to free storage. Deleting a file frees none, because its versions are kept.",
    },
  ];
}

/** A limit in plain words: its subject, its value, what happens at it, and how to raise it. */
export interface Limit {
  readonly name: string;
  readonly value: string;
  readonly meaning: string;
}

export function LimitList({ limits }: { readonly limits: readonly Limit[] }) {
  return (
    <dl class="limits">
      {limits.map(({ name, value, meaning }) => (
        <div key={name}>
          <dt>
            {name} <strong>{value}</strong>
          </dt>
          <dd>{meaning}</dd>
        </div>
      ))}
    </dl>
  );
}
