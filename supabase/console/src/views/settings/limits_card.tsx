/** @jsxImportSource preact */
/// <reference lib="dom" />
/** Every limit of the project in plain words: what happens at it, and how it is raised. */
import type { Project } from "../../api/records.ts";
import { formatBytes, formatNumber } from "../../format.ts";
import { ACCOUNT_PROJECTS_MAX, PROJECT_KEYS_MAX } from "../../limits.ts";

interface Limit {
  readonly name: string;
  readonly value: string;
  readonly meaning: string;
}

export function LimitsCard({ project }: { readonly project: Project }) {
  return (
    <section class="card" aria-labelledby="limits-title">
      <h2 id="limits-title">Limits</h2>
      <dl class="limits">
        {limitsOf(project).map(({ name, value, meaning }) => (
          <div key={name}>
            <dt>
              {name} <strong>{value}</strong>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <p class="hint">
        The first three come with the tier,{" "}
        <strong>{project.tier}</strong>, unless whoever runs this service gave the project its own. Only they
        can raise them, by{" "}
        <code>deno task projects tier</code>: ask them, with the id below. Who may sign up and make projects
        is their decision, too.
      </p>
    </section>
  );
}

function limitsOf(
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
    {
      name: "Keys that work",
      value: formatNumber(PROJECT_KEYS_MAX),
      meaning: "Revoke one that is not needed to make another. It is the same for everybody.",
    },
    {
      name: "Projects of an account",
      value: formatNumber(ACCOUNT_PROJECTS_MAX),
      meaning: "Delete one that is not needed to make another. It is the same for everybody.",
    },
  ];
}
