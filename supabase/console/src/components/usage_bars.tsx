import type { Project } from "../api/records.ts";
import { formatBytes, formatNumber, formatTotal } from "../format.ts";
import { Bar } from "./bar.tsx";
import { rateWindows } from "../session/rate_window.ts";

interface Properties {
  readonly project: Project;
  /** Shows the limited quantities only. */
  readonly isShort?: boolean;
}

export function UsageBars({ project, isShort = false }: Properties) {
  const { usage, limits } = project;
  // The headers of the last response are newer than the record, until the minute is over.
  const seen = rateWindows.value.get(project.id);
  const isFresh = seen !== undefined && seen.resetsAt > Date.now();
  const requests = isFresh && seen.limit !== null ? seen.used : usage.requestsThisMinute;
  return (
    <div class="bars">
      {!isShort && (
        <Bar
          label="Files"
          value={usage.files}
          max={null}
          format={(files) => formatTotal(files, usage.filesIsExact)}
        />
      )}
      {!isShort && <Bar label="Versions" value={usage.versions} max={null} format={formatNumber} />}
      {!isShort && (
        <Bar label="Content, with all versions" value={usage.bytes} max={null} format={formatBytes} />
      )}
      <Bar
        label={isShort ? "Stored" : "Content, records and search index"}
        value={usage.bytes + usage.databaseBytes}
        max={limits.maxProjectBytes}
        format={formatBytes}
      />
      <Bar
        label="Requests this minute"
        value={requests}
        max={limits.requestsPerMinute}
        format={formatNumber}
      />
    </div>
  );
}
