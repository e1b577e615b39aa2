/** @jsxImportSource preact */
/// <reference lib="dom" />
/** The changes between two versions, as a unified diff or side by side. */
import { useState } from "preact/hooks";
import { readBytes, readDiff, readRecord } from "../../api/files.ts";
import { Comparison } from "../../code/code_view.tsx";
import { SelectField } from "../../components/field.tsx";
import { Empty, Loading, Problem } from "../../components/states.tsx";
import { useLoad } from "../../state/use_load.ts";
import { type FilePlace, replaceWith } from "../../state/router.ts";
import { CompareFiles } from "./compare_files.tsx";
import { OtherFileField } from "./other_file_field.tsx";
import { decodeText } from "./text.ts";
import { UnifiedDiff } from "./unified_diff.tsx";
import { VersionField } from "./version_field.tsx";

interface Properties {
  readonly place: FilePlace;
  /** Null: deleted. */
  readonly latest: number | null;
}

type Layout = "unified" | "side-by-side";

export function CompareTab({ place, latest }: Properties) {
  const [layout, setLayout] = useState<Layout>("unified");
  const { toPath } = place;
  const to = place.to ?? latest ?? 2;
  const from = place.from ?? Math.max(1, to - 1);
  // Of two files, a version that nobody chose is the latest one.
  const move = (versions: { readonly from?: number; readonly to?: number }) =>
    replaceWith({ ...place, tab: "compare", ...(toPath === undefined ? { from, to } : {}), ...versions });
  return (
    <>
      <div class="compare-tools">
        <VersionField
          label="From version"
          value={toPath === undefined ? from : place.from}
          onChange={(version) => move({ from: version })}
        />
        <VersionField
          label="To version"
          value={toPath === undefined ? to : place.to}
          onChange={(version) => move({ to: version })}
        />
        <OtherFileField place={place} />
        <SelectField
          label="Layout"
          value={layout}
          onChange={(value) => setLayout(value === "unified" ? "unified" : "side-by-side")}
          options={[["unified", "Unified"], ["side-by-side", "Side by side"]]}
        />
      </div>
      {toPath !== undefined
        ? <CompareFiles place={place} toPath={toPath} isUnified={layout === "unified"} />
        : latest === 1 && place.from === undefined
        ? <Empty icon="history" title="There is only one version." />
        : layout === "unified"
        ? <Unified place={place} from={from} to={to} />
        : <SideBySide place={place} from={from} to={to} />}
    </>
  );
}

interface DiffProperties {
  readonly place: FilePlace;
  readonly from: number;
  readonly to: number;
}

function Unified({ place: { projectId, path }, from, to }: DiffProperties) {
  const { data, error, reload } = useLoad(
    `diff ${projectId} ${path} ${from} ${to}`,
    (signal) => readDiff(projectId, path, from, to, signal),
  );
  if (error !== undefined) return <Problem error={error} onRetry={reload} />;
  if (data === undefined) return <Loading what="the changes" />;
  if (data.diff === "") return <Empty icon="check" title="The two versions have the same content." />;
  return <UnifiedDiff diff={data} />;
}

function SideBySide({ place: { projectId, path }, from, to }: DiffProperties) {
  const { data, error, reload } = useLoad(`sides ${projectId} ${path} ${from} ${to}`, async (signal) => {
    const [before, after, record] = await Promise.all([
      readBytes(projectId, path, from, { signal }),
      readBytes(projectId, path, to, { signal }),
      readRecord(projectId, path, to, signal),
    ]);
    return { before: decodeText(before.bytes), after: decodeText(after.bytes), mimeType: record.mimeType };
  });
  if (error !== undefined) return <Problem error={error} onRetry={reload} />;
  if (data === undefined) return <Loading what="both versions" />;
  const { before, after, mimeType } = data;
  if (before === null || after === null) {
    return <Empty icon="file" title="Binary content cannot be compared." />;
  }
  return (
    <div class="comparison">
      <Comparison
        id={`${path} ${from} ${to}`}
        before={before}
        after={after}
        mimeType={mimeType}
        labels={[`Version ${from}`, `Version ${to}`]}
      />
    </div>
  );
}
