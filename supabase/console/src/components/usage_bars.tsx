/** Bars that show how much of each limit is used. */
import type { Project } from "../api/projects.ts";
import { formatBytes, formatNumber, formatTotal } from "../format.ts";
import { rateWindows } from "../session/rate_window.ts";

interface Properties {
  readonly project: Project;
  /** Shows only quantities with a limit. */
  readonly isShort?: boolean;
}

export function UsageBars({ project: { id, usage, limits }, isShort = false }: Properties) {
  const { files, filesIsExact, versions, bytes, databaseBytes, requestsThisMinute } = usage;
  // Until the minute ends, the headers of the last response are newer than the project's record.
  const seen = rateWindows.value.get(id);
  const isFresh = seen !== undefined && seen.resetsAt > Date.now();
  const requests = isFresh && seen.limit !== null ? seen.used : requestsThisMinute;
  return (
    <div class="bars">
      {!isShort && (
        <>
          <Bar label="Files" value={files} format={(files) => formatTotal(files, filesIsExact)} />
          <Bar label="Versions" value={versions} format={formatNumber} />
          <Bar label="Content, with all versions" value={bytes} format={formatBytes} />
        </>
      )}
      <Bar
        label={isShort ? "Stored" : "Content, records and search index"}
        value={bytes + databaseBytes}
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

interface BarProperties {
  readonly label: string;
  readonly value: number;
  /** Null: no limit. */
  readonly max?: number | null;
  readonly format: (value: number) => string;
}

export function Bar({ label, value, max = null, format }: BarProperties) {
  const text = max === null ? format(value) : `${format(value)} of ${format(max)}`;
  const share = value / (max || Infinity);
  const level = share >= 0.95 ? "full" : share >= 0.75 ? "high" : "low";
  return (
    <div class="bar">
      <div class="bar-head">
        <span>{label}</span>
        <span class="bar-value">{text}</span>
      </div>
      {max !== null && (
        <progress aria-label={`${label}: ${text}`} value={Math.min(value, max)} max={max} class={level} />
      )}
    </div>
  );
}
