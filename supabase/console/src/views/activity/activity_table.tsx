/** The rows of the activity: groups that open, and single writes. */
import { useState } from "preact/hooks";
import type { Change } from "../../api/changes.ts";
import { Age, changedClass, ChangedMark, ListTable, moveInList, RowLink } from "../../components/list.tsx";
import { fileIcon } from "../../components/file_icon.ts";
import { Icon } from "../../components/icon.tsx";
import { Provenance } from "../../components/provenance.tsx";
import { describeOperation, formatBytes, formatCount, OPERATIONS, shortenId, visible } from "../../format.ts";
import { writerName } from "../../state/keys.ts";
import { isMarked } from "../../state/live.ts";
import { hrefOf } from "../../state/router.ts";
import { type Group, groupsOf } from "./groups.ts";

interface Properties {
  readonly projectId: string;
  readonly entries: readonly Change[];
}

export function ActivityTable({ projectId, entries }: Properties) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (id: string) =>
    setOpen(open.has(id) ? new Set([...open].filter((one) => one !== id)) : new Set([...open, id]));
  return (
    <ListTable
      class="list activity"
      caption="Latest writes"
      columns={[["What"], ["Change", "extra"], ["Written by", "writer"], ["Time", "when"], [
        "Size",
        "number extra",
      ]]}
      onKeyDown={moveInList}
    >
      {groupsOf(entries).flatMap((group) => {
        const isSingle = group.entries.length === 1;
        const isOpen = open.has(group.id);
        return [
          ...isSingle ? [] : [
            <GroupRow
              key={group.id}
              {...{ projectId, group, isOpen }}
              onToggle={() => toggle(group.id)}
            />,
          ],
          ...isSingle || isOpen
            ? group.entries.map((entry) => (
              <Row
                key={`${entry.fileId} ${entry.version}`}
                {...{ projectId, entry }}
                groupRunId={isSingle ? undefined : group.runId}
                isInGroup={!isSingle}
              />
            ))
            : [],
        ];
      })}
    </ListTable>
  );
}

interface GroupProperties {
  readonly projectId: string;
  readonly group: Group;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

/** `nightly-42 · 60 files`: a button that opens the group. */
function GroupRow({ projectId, group: { runId, entries }, isOpen, onToggle }: GroupProperties) {
  const isChanged = entries.some(({ fileId, version }) => isMarked(fileId, version));
  const [{ createdAt, keyId, account }] = entries;
  const files = new Set(entries.map(({ fileId }) => fileId)).size;
  const actors = [...new Set(entries.flatMap(({ actor }) => actor ?? []))].map(visible).join(", ");
  const keys = [...new Set(entries.map((entry) => writerName(projectId, entry.keyId, entry.account)))].join(
    ", ",
  );
  return (
    <tr class={`group ${changedClass(isChanged) ?? ""}`}>
      <td class="name">
        <button type="button" class="row-link" aria-expanded={isOpen} onClick={onToggle} title={runId}>
          <Icon name="chevron" />
          {runId === undefined ? writerName(projectId, keyId, account) : shortenId(runId)}
        </button>{" "}
        <span class="hint">
          {formatCount(files, "file")}
          {files < entries.length && `, ${formatCount(entries.length, "version")}`}
        </span>{" "}
        {runId !== undefined && (
          <a href={hrefOf({ name: "run", projectId, runId })} aria-label={`View run ${runId}`}>View run</a>
        )}
      </td>
      <td class="extra">{operationsOf(entries)}</td>
      <td class="writer">{actors || (runId === undefined ? "" : keys)}</td>
      <td class="when">
        <Age iso={createdAt} />
        <ChangedMark isChanged={isChanged} />
      </td>
      <td class="number extra" />
    </tr>
  );
}

/** `edited, written`: what was done, in the order of the first write of each. */
function operationsOf(entries: readonly Change[]): string {
  const operations = new Set(entries.toReversed().map(({ operation }) => operation));
  return [...operations].map((operation) => OPERATIONS[operation] ?? operation).join(", ");
}

interface RowProperties {
  readonly projectId: string;
  readonly entry: Change;
  readonly isInGroup: boolean;
  /** The run of the group above, which the row does not repeat. */
  readonly groupRunId: string | undefined;
}

function Row({ projectId, entry, isInGroup, groupRunId }: RowProperties) {
  const { path = "", fileId, version, size, createdAt, keyId, deleted: isDeleted = false } = entry;
  const isPurged = entry.path === undefined;
  const isChanged = isMarked(fileId, version);
  const file = { name: "file", projectId, path } as const;
  const { actor, note } = entry;
  const runId = groupRunId === undefined ? entry.runId : undefined;
  return (
    <tr class={`${isInGroup ? "in-group " : ""}${changedClass(isChanged) ?? ""}`}>
      <td class="name">
        {isPurged ? <span class="purged">A purged file</span> : (
          <RowLink
            to={isDeleted ? { ...file, tab: "history" } : { ...file, tab: "content", version }}
            icon={isDeleted ? "trash" : fileIcon({ path, mimeType: entry.mimeType })}
            text={path}
          />
        )}
      </td>
      <td class="extra">
        {describeOperation(path, entry)}, version {version}
      </td>
      <td class="writer">
        {writerName(projectId, keyId, entry.account)}
        <Provenance {...{ projectId, actor, runId, note }} />
      </td>
      <td class="when">
        <Age iso={createdAt} />
        <ChangedMark isChanged={isChanged} />
      </td>
      <td class="number extra">{isDeleted || isPurged ? "" : formatBytes(size)}</td>
    </tr>
  );
}
