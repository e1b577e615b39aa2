/** The differences between two versions, of one file or of two: as a unified diff, or side by side. */
import { useEffect, useState } from "preact/hooks";
import { listVersions, readBytes, readDiff, readRecord, type Version } from "../../api/files.ts";
import { Comparison } from "../../code/code_view.tsx";
import { SelectField } from "../../components/form.tsx";
import { Empty, Pending } from "../../components/states.tsx";
import { formatAge, visible } from "../../format.ts";
import { usePaced } from "../../state/paced.ts";
import { useLoad } from "../../state/use_load.ts";
import { type FilePlace, hrefOf, replaceWith } from "../../state/router.ts";
import { decodeText } from "../../components/shown_type.ts";
import { UnifiedDiff } from "../../components/unified_diff.tsx";
import { PathField } from "../../components/path_field.tsx";
import { isReadable } from "./timeline.tsx";

interface CompareTabProperties {
  readonly place: FilePlace;
  /** Null: the file is deleted. */
  readonly latest: number | null;
}

type Layout = "unified" | "side-by-side";

export function CompareTab({ place, latest }: CompareTabProperties) {
  const [layout, setLayout] = useState<Layout>("unified");
  const { projectId, path, toPath } = place;
  // Between two files, each version is the latest unless the person chose another.
  const to = place.to ?? (toPath === undefined ? latest ?? 2 : undefined);
  const from = place.from ?? (to === undefined || toPath !== undefined ? undefined : Math.max(1, to - 1));
  const change = (versions: { readonly from?: number; readonly to?: number }) =>
    replaceWith({ ...place, tab: "compare", from, to, ...versions });
  const compared = { projectId, path, toPath, from, to };
  const versions = useVersions(projectId, path, latest);
  const others = useVersions(projectId, toPath, latest);
  return (
    <>
      <div class="compare-tools">
        <VersionField
          label="From version"
          versions={versions}
          value={from}
          onChange={(version) => change({ from: version })}
        />
        <VersionField
          label="To version"
          versions={toPath === undefined ? versions : others}
          value={to}
          onChange={(version) => change({ to: version })}
        />
        <OtherFileField place={place} />
        <SelectField
          label="Layout"
          value={layout}
          onChange={(value) => setLayout(value === "unified" ? "unified" : "side-by-side")}
          options={[["unified", "Unified"], ["side-by-side", "Side by side"]]}
        />
        <a class="button" href={hrefOf({ name: "file", projectId, path, tab: "content" })}>Close</a>
      </div>
      {toPath !== undefined && (
        <p class="hint">
          From {visible(path)}, {versionText(from)}, to{" "}
          <a href={hrefOf({ name: "file", projectId, path: toPath, tab: "content", version: to })}>
            {toPath}
          </a>
          , {versionText(to)}.
        </p>
      )}
      {toPath === undefined && latest === 1 && place.from === undefined
        ? <Empty icon="history" title="There is only one version." />
        : layout === "unified"
        ? <Unified {...compared} />
        : <SideBySide {...compared} />}
    </>
  );
}

function versionText(version: number | undefined): string {
  return version === undefined ? "the latest version" : `version ${version}`;
}

interface Compared {
  readonly projectId: string;
  readonly path: string;
  /** The other file. Undefined: two versions of one file are compared. */
  readonly toPath: string | undefined;
  /** Undefined: the latest version. */
  readonly from: number | undefined;
  readonly to: number | undefined;
}

function Unified({ projectId, path, toPath, from, to }: Compared) {
  const { data, error, reload } = useLoad(
    `diff ${projectId} ${path} ${from} ${toPath} ${to}`,
    (signal) => readDiff({ projectId, path }, { from, to, toPath }, signal),
  );
  if (data === undefined) return <Pending {...{ error, reload }} what="the changes" />;
  if (data.diff !== "") return <UnifiedDiff diff={data} />;
  const what = toPath === undefined ? "versions" : "files";
  return <Empty icon="check" title={`The two ${what} have the same content.`} />;
}

function SideBySide({ projectId, path, toPath = path, from, to }: Compared) {
  const { data, error, reload } = useLoad(
    `sides ${projectId} ${path} ${from} ${toPath} ${to}`,
    (signal) =>
      Promise.all([readSide(projectId, path, from, signal), readSide(projectId, toPath, to, signal)]),
  );
  if (data === undefined) return <Pending {...{ error, reload }} what="both texts" />;
  const [before, after] = data;
  if (before.text === null || after.text === null) {
    return <Empty icon="file" title="Binary content cannot be compared." />;
  }
  const label = (side: { readonly path: string; readonly version: number }) =>
    toPath === path ? `Version ${side.version}` : `${side.path}, version ${side.version}`;
  return (
    <div class="comparison">
      <Comparison
        id={`${path} ${before.version} ${toPath} ${after.version}`}
        before={before.text}
        after={after.text}
        mimeType={after.mimeType}
        labels={[label(before), label(after)]}
      />
    </div>
  );
}

async function readSide(projectId: string, path: string, version: number | undefined, signal: AbortSignal) {
  const record = await readRecord({ projectId, path }, { version }, signal);
  const { bytes } = await readBytes({ projectId, path }, record.version, signal);
  return { ...record, text: decodeText(bytes) };
}

/** Returns the newest versions of a file, and none without a path. A newer latest version loads them again. */
function useVersions(projectId: string, path: string | undefined, latest: number | null): readonly Version[] {
  const newest = usePaced(projectId, latest);
  const { data = [] } = useLoad(
    `choices ${projectId} ${path} ${newest}`,
    async (signal) => path === undefined ? [] : (await listVersions({ projectId, path }, 0, signal)).versions,
  );
  return data;
}

interface VersionFieldProperties {
  readonly label: string;
  readonly versions: readonly Version[];
  /** Undefined: the latest version. */
  readonly value: number | undefined;
  readonly onChange: (version: number) => void;
}

/** Offers the newest versions, the first, and the chosen one. The history lists the others, to pick them there. */
function VersionField({ label, versions, value, onChange }: VersionFieldProperties) {
  const ages = new Map(
    versions.filter(isReadable).map(({ version, createdAt }) => [version, `, ${formatAge(createdAt)}`]),
  );
  const isFirstListed = versions.some(({ version }) => version === 1);
  const offered = new Set([...ages.keys(), value ?? 0, isFirstListed ? 0 : 1]);
  const numbers = [...offered].filter((version) => version > 0).sort((a, b) => b - a);
  return (
    <SelectField
      label={label}
      value={value === undefined ? "" : String(value)}
      onChange={(chosen) => onChange(Number(chosen))}
      options={[
        ...value === undefined ? [["", "Latest version"] as const] : [],
        ...numbers.map((version) =>
          [String(version), `Version ${version}${ages.get(version) ?? ""}`] as const
        ),
      ]}
    />
  );
}

/** The other file of a comparison; empty for the same file. Takes effect on blur or Enter. */
function OtherFileField({ place }: { readonly place: FilePlace }) {
  const { projectId, path, toPath = "" } = place;
  const [text, setText] = useState(toPath);
  useEffect(() => setText(toPath), [toPath]);
  const choose = (value: string) => {
    const other = value.trim();
    const isOther = other !== "" && other !== path;
    // Version numbers of one file do not apply to another.
    replaceWith({
      ...place,
      tab: "compare",
      from: undefined,
      to: undefined,
      toPath: isOther ? other : undefined,
    });
  };
  return (
    <div class="other-file">
      <PathField
        projectId={projectId}
        label="With another file"
        value={text}
        onInput={setText}
        onChange={choose}
      />
    </div>
  );
}
