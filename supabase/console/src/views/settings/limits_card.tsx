/** The limits of the project: what happens at each, and how to raise it. */
import type { Project } from "../../api/projects.ts";
import { CopyButton } from "../../components/copy.tsx";
import { formatBytes, formatNumber } from "../../format.ts";

export function LimitsCard({ project }: { readonly project: Project }) {
  return (
    <section class="card" aria-labelledby="limits-title">
      <h2 id="limits-title">Limits</h2>
      <LimitList limits={ofProject(project)} />
      {Object.values(project.limits).some((limit) => limit !== null) && <HowRaised project={project} />}
      <p class="hint">
        Other limits are the same for every project. The API's documentation lists them, under “Limits”.
      </p>
    </section>
  );
}

/** The next tier has higher limits, but the command also removes limits that were set for this project alone. */
function HowRaised({ project: { id, tier } }: { readonly project: Project }) {
  const command = `deno task projects tier ${id} ${tier === "free" ? "pro" : "enterprise"}`;
  return (
    <>
      <p>
        These come with the tier,{" "}
        <strong>{tier}</strong>, unless the operator of this service gave the project its own. Only they can
        raise them. Send them this command:
      </p>
      <p class="command">
        <code>{command}</code>
        <CopyButton text={command} what="the command" />
      </p>
      <p class="hint">
        They can also keep the tier and give the project limits of its own, with{" "}
        <code>--requests-per-minute</code>, <code>--max-file-bytes</code> and{" "}
        <code>--max-project-bytes</code>. A limit that the command leaves out is the tier's.
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
        "All keys and this console together. Those above it are refused until the minute is over; agents are told " +
        "how long to wait. More keys do not raise it; batches and folder operations need fewer requests.",
    },
    {
      name: "Size of a file",
      value: maxFileBytes === null ? "no limit" : formatBytes(maxFileBytes),
      meaning: "A write that would make a file larger is refused. Larger ones that exist stay readable.",
    },
    {
      name: "Storage",
      value: maxProjectBytes === null ? "no limit" : formatBytes(maxProjectBytes),
      meaning:
        "Content of all versions, with what it takes in the database and the search index. When it is used up, " +
        "writes are refused and everything stays readable. Erasing files for good, or a rule below that lets " +
        "old versions go, makes room; deleting a file does not, since its versions stay.",
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
