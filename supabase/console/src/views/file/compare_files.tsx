/** @jsxImportSource preact */
/// <reference lib="dom" />
/** What differs between a version of this file and one of another file. */
import { readBytes, readDiff, readRecord } from "../../api/files.ts";
import { Comparison } from "../../code/code_view.tsx";
import { Empty, Loading, Problem } from "../../components/states.tsx";
import { visible } from "../../format.ts";
import { type FilePlace, hrefOf } from "../../state/router.ts";
import { useLoad } from "../../state/use_load.ts";
import { decodeText } from "./text.ts";
import { UnifiedDiff } from "./unified_diff.tsx";

interface Properties {
  readonly place: FilePlace;
  readonly toPath: string;
  readonly isUnified: boolean;
}

export function CompareFiles({ place, toPath, isUnified }: Properties) {
  const { projectId, path, from, to } = place;
  return (
    <>
      <p class="hint">
        From {visible(path)}, {from === undefined ? "the latest version" : `version ${from}`}, to{" "}
        <a href={hrefOf({ name: "file", projectId, path: toPath, tab: "content", version: to })}>{toPath}</a>,
        {" "}
        {to === undefined ? "the latest version" : `version ${to}`}.
      </p>
      {isUnified ? <Unified {...{ place, toPath }} /> : <SideBySide {...{ place, toPath }} />}
    </>
  );
}

type DiffProperties = Pick<Properties, "place" | "toPath">;

function Unified({ place: { projectId, path, from, to }, toPath }: DiffProperties) {
  const { data, error, reload } = useLoad(
    `diff ${projectId} ${path} ${from} ${toPath} ${to}`,
    (signal) => readDiff(projectId, path, from, to, signal, toPath),
  );
  if (error !== undefined) return <Problem error={error} onRetry={reload} />;
  if (data === undefined) return <Loading what="what differs" />;
  if (data.diff === "") return <Empty icon="check" title="The two files have the same content." />;
  return <UnifiedDiff diff={data} />;
}

function SideBySide({ place: { projectId, path, from, to }, toPath }: DiffProperties) {
  const { data, error, reload } = useLoad(
    `sides ${projectId} ${path} ${from} ${toPath} ${to}`,
    async (signal) => {
      const [one, other] = await Promise.all([
        readRecord(projectId, path, from, signal),
        readRecord(projectId, toPath, to, signal),
      ]);
      const [before, after] = await Promise.all([
        readBytes(projectId, path, one.version, { signal }),
        readBytes(projectId, toPath, other.version, { signal }),
      ]);
      return { one, other, before: decodeText(before.bytes), after: decodeText(after.bytes) };
    },
  );
  if (error !== undefined) return <Problem error={error} onRetry={reload} />;
  if (data === undefined) return <Loading what="both files" />;
  const { one, other, before, after } = data;
  if (before === null || after === null) {
    return <Empty icon="file" title="Binary content cannot be compared." />;
  }
  return (
    <div class="comparison">
      <Comparison
        id={`${path} ${one.version} ${toPath} ${other.version}`}
        before={before}
        after={after}
        mimeType={other.mimeType}
        labels={[`${path}, version ${one.version}`, `${toPath}, version ${other.version}`]}
      />
    </div>
  );
}
