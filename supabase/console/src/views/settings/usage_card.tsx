/** Usage over time: a chart and tables, by day and by key. */
import { useState } from "preact/hooks";
import { readUsage, type Usage, type UsageDay, type UsageOfKey } from "../../api/owning.ts";
import { SelectField } from "../../components/form.tsx";
import { ListTable } from "../../components/list.tsx";
import { Pending } from "../../components/states.tsx";
import { formatBytes, formatCount, formatNumber, visible } from "../../format.ts";
import { useLoad } from "../../state/use_load.ts";

/** Periods in days. The API keeps a year and a month. */
const PERIODS = [["7", "7 days"], ["30", "30 days"], ["90", "90 days"], ["366", "A year"]] as const;

/** A quantity that the chart shows by day. */
interface Measure {
  readonly name: string;
  readonly of: "requests" | "versions" | "bytesWritten" | "bytes" | "databaseBytes";
  readonly format: (value: number) => string;
  /** `120 requests`: the sum of a period, or the level at its end. */
  readonly counted: (value: number) => string;
  /** Whether it is a level at the end of a day: it belongs to no key, and days are not added up. */
  readonly isLevel: boolean;
}

const MEASURES: readonly Measure[] = [
  {
    name: "Requests",
    of: "requests",
    format: formatNumber,
    counted: (value) => formatCount(value, "request"),
    isLevel: false,
  },
  {
    name: "Versions written",
    of: "versions",
    format: formatNumber,
    counted: (value) => formatCount(value, "version"),
    isLevel: false,
  },
  {
    name: "Content written",
    of: "bytesWritten",
    format: formatBytes,
    counted: (value) => `${formatBytes(value)} written`,
    isLevel: false,
  },
  {
    name: "Content stored",
    of: "bytes",
    format: formatBytes,
    counted: (value) => `${formatBytes(value)} stored`,
    isLevel: true,
  },
  {
    name: "In the database",
    of: "databaseBytes",
    format: formatBytes,
    counted: (value) => `${formatBytes(value)} in the database`,
    isLevel: true,
  },
];

export function UsageCard({ projectId }: { readonly projectId: string }) {
  const [days, setDays] = useState("30");
  const [keyId, setKeyId] = useState("");
  const [chosen, setChosen] = useState("requests");
  const key = `usage ${projectId} ${days} ${keyId}`;
  const { data, error, reload } = useLoad(
    key,
    (signal) => readUsage(projectId, daysAgo(Number(days) - 1), keyId === "" ? undefined : keyId, signal),
  );
  // Kept, so that the choice of a key stays while the chosen usage loads.
  const [keys, setKeys] = useState<readonly UsageOfKey[]>([]);
  if (data !== undefined && data.keys !== keys) setKeys(data.keys);
  const measures = MEASURES.filter(({ isLevel }) => keyId === "" || !isLevel);
  const measure = measures.find(({ of }) => of === chosen) ?? measures[0];
  return (
    <section class="card" aria-labelledby="over-time-title">
      <h2 id="over-time-title">Usage over time</h2>
      <div class="usage-choices">
        <SelectField
          label="Shown"
          value={measure?.of ?? ""}
          onChange={setChosen}
          options={measures.map(({ of, name }) => [of, name])}
        />
        <SelectField label="Period" value={days} onChange={setDays} options={PERIODS} />
        <SelectField
          label="Key"
          value={keyId}
          onChange={setKeyId}
          options={[
            ["", "All"],
            ...keys.map(({ keyId, ...rest }) => [keyId ?? "console", nameOfKey({ keyId, ...rest })] as const),
          ]}
        />
      </div>
      {data === undefined || measure === undefined ? <Pending {...{ error, reload }} what="the usage" /> : (
        <>
          <UsageChart days={data.days} measure={measure} />
          <details>
            <summary>By day, as a table</summary>
            <DayTable days={data.days} />
          </details>
          <KeyTable usage={data} />
          <p class="hint">
            Days are in UTC. Content that versions share is stored once and belongs to no key.
          </p>
        </>
      )}
    </section>
  );
}

function nameOfKey({ keyId, name, prefix }: Pick<UsageOfKey, "keyId" | "name" | "prefix">): string {
  if (keyId === null) return "Console";
  if (name) return visible(name);
  return prefix === null ? `Key ${keyId.slice(0, 8)}, forgotten` : `${prefix}…`;
}

function DayTable({ days }: { readonly days: readonly UsageDay[] }) {
  return (
    <div class="scroll" role="region" aria-label="Usage by day" tabIndex={0}>
      <ListTable
        caption="Usage by day"
        columns={[["Day"], ...MEASURES.map(({ name }) => [name, "number"] as const)]}
      >
        {days.toReversed().map((day) => (
          <tr key={day.day}>
            <th scope="row">{day.day}</th>
            {MEASURES.map(({ name, of, format }) => <td key={name} class="number">{show(day[of], format)}
            </td>)}
          </tr>
        ))}
      </ListTable>
    </div>
  );
}

function KeyTable({ usage: { keys, keyCount } }: { readonly usage: Usage }) {
  if (keys.length === 0) return null;
  return (
    <div class="scroll" role="region" aria-label="Usage by key" tabIndex={0}>
      <ListTable
        caption="Usage by key"
        columns={[["Key"], ["Requests", "number"], ["Versions written", "number"], [
          "Content written",
          "number",
        ]]}
      >
        {keys.map((key) => (
          <tr key={key.keyId}>
            <th scope="row">{nameOfKey(key)}</th>
            <td class="number">{formatNumber(key.requests)}</td>
            <td class="number">{formatNumber(key.versions)}</td>
            <td class="number">{formatBytes(key.bytesWritten)}</td>
          </tr>
        ))}
      </ListTable>
      {keyCount > keys.length && (
        <p class="hint">And {formatNumber(keyCount - keys.length)} keys with fewer requests.</p>
      )}
    </div>
  );
}

function show(value: number | null, format: (value: number) => string): string {
  return value === null ? "not known" : format(value);
}

/** Returns a day in UTC. */
function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
}

/** In the units of the drawing, which is stretched to the available width. */
const STEP = 10;
const HEIGHT = 100;
/** Keeps the bar of any nonzero day visible. */
const BAR_HEIGHT_MIN = 2;

interface Properties {
  readonly days: readonly UsageDay[];
  readonly measure: Measure;
}

function UsageChart({ days, measure }: Properties) {
  const { of, format } = measure;
  const most = Math.max(0, ...days.map((day) => day[of] ?? 0));
  const [first, last] = [days[0]?.day ?? "", days.at(-1)?.day ?? ""];
  return (
    <figure class="chart">
      <figcaption>{summaryOf(days, measure, most)}</figcaption>
      <svg
        viewBox={`0 0 ${Math.max(days.length, 1) * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        focusable="false"
      >
        {days.map((day, index) => {
          const value = day[of] ?? 0;
          const height = value === 0 ? 0 : Math.max(value / most * HEIGHT, BAR_HEIGHT_MIN);
          return (
            <g key={day.day}>
              <title>{`${day.day}: ${format(value)}`}</title>
              <rect class="hover-area" x={index * STEP} y={0} width={STEP} height={HEIGHT} />
              <rect
                class="bar-of-day"
                x={index * STEP + 1}
                y={HEIGHT - height}
                width={STEP - 2}
                height={height}
              />
            </g>
          );
        })}
      </svg>
      <div class="chart-ends" aria-hidden="true">
        <span>{first}</span>
        <span>{last}</span>
      </div>
    </figure>
  );
}

/** Summarizes the chart: `120 requests; peak 40 on 2026-01-31.` */
function summaryOf(
  days: readonly UsageDay[],
  { name, of, format, isLevel, counted }: Properties["measure"],
  most: number,
): string {
  const peak = days.find((day) => day[of] === most)?.day;
  if (most === 0 || peak === undefined) return `${name}: none in this period.`;
  const sum = days.reduce((total, day) => total + (day[of] ?? 0), 0);
  const last = days.findLast((day) => day[of] !== null)?.[of] ?? 0;
  return `${counted(isLevel ? last : sum)}; peak ${format(most)} on ${peak}.`;
}
