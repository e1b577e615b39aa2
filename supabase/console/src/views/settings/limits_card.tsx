/** @jsxImportSource preact */
/// <reference lib="dom" />
/** Every limit of the project in plain words: what happens at it, and how it is raised. */
import type { Project, Retention } from "../../api/records.ts";
import { CopyButton } from "../../components/copy_button.tsx";
import { formatBytes, formatCount, formatNumber } from "../../format.ts";
import {
  ARCHIVE_BYTES_MAX,
  BATCH_OPERATIONS_MAX,
  CHANGES_WAITERS_MAX,
  COMMIT_FILES_MAX,
  CONTENT_LENGTH_MAX,
  ENDED_KEYS_KEPT_DAYS,
  EXPORT_BYTES_MAX,
  EXPORT_FILES_MAX,
  LINK_REQUESTS_PER_MINUTE,
  LINK_SECONDS_MAX,
  PROJECT_KEYS_MAX,
  PROJECT_LINKS_MAX,
  SEARCH_TEXT_BYTES_MAX,
  USAGE_KEPT_DAYS,
  WRITE_LINK_SECONDS_MAX,
} from "../../limits.ts";
import { type Limit, LimitList } from "./limit_list.tsx";

const SECONDS_PER_DAY = 86_400;
const SECONDS_PER_HOUR = 3_600;

export function LimitsCard({ project }: { readonly project: Project }) {
  return (
    <section class="card" aria-labelledby="limits-title">
      <h2 id="limits-title">Limits</h2>
      <h3>Of this project</h3>
      <LimitList limits={ofProject(project)} />
      {Object.values(project.limits).some((limit) => limit !== null) && <HowRaised project={project} />}
      <h3>The same for every project</h3>
      <LimitList limits={forEverybody(project.retention)} />
      <p class="hint">
        These are not raised for a project: each says what to do instead. The API's documentation has the
        rest.
      </p>
    </section>
  );
}

/** The next tier has higher limits; one that was given limits of its own loses them by the same command. */
function HowRaised({ project: { id, tier } }: { readonly project: Project }) {
  const command = `deno task projects tier ${id} ${tier === "free" ? "pro" : "enterprise"}`;
  return (
    <>
      <p>
        These come with the tier,{" "}
        <strong>{tier}</strong>, unless whoever runs this service gave the project its own. Only they can
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

function forEverybody(retention: Retention | null): readonly Limit[] {
  return [
    {
      name: "Versions of a file",
      value: retention === null ? "no limit" : "by the rule below",
      meaning: "Every write makes one. None goes by itself unless a rule below says so, which you set.",
    },
    {
      name: "Keys that work",
      value: formatNumber(PROJECT_KEYS_MAX),
      meaning:
        `Revoke one that is not needed to make another. Revoked and expired ones do not count, and are shown for ` +
        `${formatNumber(ENDED_KEYS_KEPT_DAYS)} days.`,
    },
    {
      name: "Links that can be used",
      value: formatNumber(PROJECT_LINKS_MAX),
      meaning: `End one that is not needed to make another, or wait: one for reading ends after at most ${
        formatCount(LINK_SECONDS_MAX / SECONDS_PER_DAY, "day")
      }, one for writing after at most ${formatCount(WRITE_LINK_SECONDS_MAX / SECONDS_PER_HOUR, "hour")}.`,
    },
    {
      name: "Reads of a link per minute",
      value: formatNumber(LINK_REQUESTS_PER_MINUTE),
      meaning:
        "All links together have as many as the project has requests, and use up none of those. Make several links " +
        "of a file that many read at once, or give them keys.",
    },
    {
      name: "Content in one JSON request",
      value: formatBytes(CONTENT_LENGTH_MAX),
      meaning: "Send more as raw bytes, or upload it here or by a link: then only the size of a file counts.",
    },
    {
      name: "Operations of a batch",
      value: formatNumber(BATCH_OPERATIONS_MAX),
      meaning: "All or nothing, in one request. Send the rest in another batch.",
    },
    {
      name: "Files moved, copied, deleted, undone or restored at once",
      value: formatNumber(COMMIT_FILES_MAX),
      meaning:
        "More are refused as a whole. Take the folders below one by one; an undo can be given some of its paths.",
    },
    {
      name: "Files in one export",
      value: `${formatNumber(EXPORT_FILES_MAX)}, ${formatBytes(EXPORT_BYTES_MAX)}`,
      meaning:
        `This console makes an archive of as many files and up to ${
          formatBytes(ARCHIVE_BYTES_MAX)
        } itself. Any size ` +
        "goes by the command deno task files export.",
    },
    {
      name: "Text of a file that is indexed",
      value: formatBytes(SEARCH_TEXT_BYTES_MAX),
      meaning: "A larger one is found by its name; searches by substring or pattern read some of them, too.",
    },
    {
      name: "Clients waiting for changes",
      value: formatNumber(CHANGES_WAITERS_MAX),
      meaning:
        "Of one project, in each instance of the service. The others are answered at once, and ask again.",
    },
    {
      name: "Days of usage",
      value: formatNumber(USAGE_KEPT_DAYS),
      meaning: "Older ones are forgotten. Read them by the API before, to keep them.",
    },
  ];
}
