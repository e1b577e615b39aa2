/** One file of a branch beside that of its folder and, if they are in conflict, what it becomes. */
import { useState } from "preact/hooks";
import type { Branch, BranchChange, Resolution } from "../../api/branches.ts";
import { readBytes, readRecord } from "../../api/files.ts";
import { Comparison } from "../../code/code_view.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { SelectField } from "../../components/form.tsx";
import { decodeText, shownType } from "../../components/shown_type.ts";
import { Pending } from "../../components/states.tsx";
import { formatBytes, joinPath } from "../../format.ts";
import { TEXT_PREVIEW_BYTES_MAX } from "../../limits.ts";
import { hrefOf } from "../../state/router.ts";
import { useLoad } from "../../state/use_load.ts";

interface Properties {
  readonly projectId: string;
  readonly branch: Branch;
  readonly change: BranchChange;
  readonly resolution: Resolution | undefined;
  readonly onResolve: (resolution: Resolution | undefined) => void;
  readonly onClose: () => void;
}

/** A file on one side; `version` is null if it is not there. */
interface Side {
  readonly path: string;
  readonly version: number | null;
}

interface LoadedSide {
  readonly mimeType: string;
  /** Null for content that cannot be shown as text. */
  readonly text: string | null;
}

export function ChangeDialog({ projectId, branch, change, resolution, onResolve, onClose }: Properties) {
  const current: Side = { path: joinPath(branch.directory, change.path), version: change.current };
  const own: Side = { path: `${branch.path}/${change.path}`, version: change.branch };
  const { data, error, reload } = useLoad(
    `sides ${projectId} ${own.path} ${current.version} ${own.version}`,
    (signal) => Promise.all([readSide(projectId, current, signal), readSide(projectId, own, signal)]),
  );
  const texts = data && textsOf(...data);
  return (
    <Dialog title={change.path} onClose={onClose} isWide>
      <p class="facts">
        <SideLink {...{ projectId }} side={current} where="in the folder" />
        <SideLink {...{ projectId }} side={own} where="in the branch" />
      </p>
      {change.conflict && <Choice {...{ change, resolution, onResolve }} text={texts?.own ?? null} />}
      {data === undefined
        ? <Pending {...{ error, reload }} what="both sides" />
        : texts === null || texts === undefined
        ? <p class="note">Only texts of up to {formatBytes(TEXT_PREVIEW_BYTES_MAX)} are compared here.</p>
        : <Differences {...{ change, texts, resolution, onResolve }} />}
      <footer class="dialog-foot">
        <button type="button" class="primary" onClick={onClose}>Done</button>
      </footer>
    </Dialog>
  );
}

interface Texts {
  readonly current: string;
  readonly own: string;
  readonly mimeType: string;
}

/** Returns null unless both sides are texts. A file that is not there counts as empty. */
function textsOf(current: LoadedSide | null, own: LoadedSide | null): Texts | null {
  const mimeType = own?.mimeType ?? current?.mimeType ?? "text/plain";
  const [before, after] = [current === null ? "" : current.text, own === null ? "" : own.text];
  return before === null || after === null ? null : { current: before, own: after, mimeType };
}

async function readSide(
  projectId: string,
  { path, version }: Side,
  signal: AbortSignal,
): Promise<LoadedSide | null> {
  if (version === null) return null;
  const record = await readRecord({ projectId, path }, { version }, signal);
  const mimeType = shownType(record);
  if (record.size > TEXT_PREVIEW_BYTES_MAX) return { mimeType, text: null };
  const { bytes } = await readBytes({ projectId, path }, version, signal);
  return { mimeType, text: decodeText(bytes) };
}

interface SideLinkProperties {
  readonly projectId: string;
  readonly side: Side;
  readonly where: string;
}

function SideLink({ projectId, side: { path, version }, where }: SideLinkProperties) {
  if (version === null) return <span>Not there {where}</span>;
  return (
    <a href={hrefOf({ name: "file", projectId, path, tab: "content", version })}>
      Version {version} {where}
    </a>
  );
}

interface DifferencesProperties extends Pick<Properties, "change" | "resolution" | "onResolve"> {
  readonly texts: Texts;
}

function Differences({ change, texts, resolution, onResolve }: DifferencesProperties) {
  const isByHand = resolution !== undefined && "content" in resolution;
  // The editor starts with what was written before, and then keeps its own text.
  const [start, setStart] = useState({ isByHand, text: isByHand ? resolution.content : texts.own });
  if (start.isByHand !== isByHand) {
    setStart({ isByHand, text: isByHand ? resolution.content : texts.own });
  }
  return (
    <div class="comparison">
      <Comparison
        id={`${change.path} ${change.current} ${change.branch} ${start.isByHand}`}
        before={texts.current}
        after={start.text}
        mimeType={texts.mimeType}
        labels={["In the folder", isByHand ? "Result" : "In the branch"]}
        onChange={isByHand ? (content) => onResolve({ content }) : undefined}
      />
    </div>
  );
}

interface ChoiceProperties extends Pick<Properties, "change" | "resolution" | "onResolve"> {
  /** The text in the branch; null if it cannot be edited. */
  readonly text: string | null;
}

function Choice({ change, resolution, onResolve, text }: ChoiceProperties) {
  const choose = (value: string) => {
    if (value === "branch" || value === "current") onResolve({ take: value });
    else onResolve(value === "content" && text !== null ? { content: text } : undefined);
  };
  const value = resolution === undefined ? "" : "take" in resolution ? resolution.take : "content";
  return (
    <SelectField
      label="Both sides changed this file. Result"
      {...{ value }}
      onChange={choose}
      options={[
        ["", "undecided"],
        ["branch", describeChoice({ take: "branch" }, change)],
        ["current", describeChoice({ take: "current" }, change)],
        ...text === null ? [] : [["content", "as edited here, on the right"] as const],
      ]}
    />
  );
}

export function describeChoice(resolution: Resolution, { branch, current }: BranchChange): string {
  if ("content" in resolution) return "edited by hand";
  const isGone = (resolution.take === "branch" ? branch : current) === null;
  return `${isGone ? "deleted, " : ""}as in the ${resolution.take === "branch" ? "branch" : "folder"}`;
}
