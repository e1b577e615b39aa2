/** Usage over time: a chart and tables, by day and by key. */
import { useState } from "preact/hooks";
import { readUsage, type Usage, type UsageDay, type UsageOfKey } from "../../api/owning.ts";
import { SelectField } from "../../components/form.tsx";
import { ListTable } from "../../components/list.tsx";
import { Pending } from "../../components/states.tsx";
import { formatBytes, formatNumber, visible } from "../../format.ts";
import { useLoad } from "../../state/use_load.ts";
import { type Measure, UsageChart } from "./usage_chart.tsx";

/** Periods in days: the API keeps a year and a month. */
const PERIODS = [["7", "7 days"], ["30", "30 days"], ["90", "90 days"], ["366", "A year"]] as const;

const MEASURES: Readonly<Record<string, Measure>> = {
  requests: { name: "Requests", of: ({ requests }) => requests, format: formatNumber, isLevel: false },
  versions: { name: "Versions made", of: ({ versions }) => versions, format: formatNumber, isLevel: false },
  written: {
    name: "Content written",
    of: ({ bytesWritten }) => bytesWritten,
    format: formatBytes,
    isLevel: false,
  },
  stored: { name: "Content stored", of: ({ bytes }) => bytes, format: formatBytes, isLevel: true },
  database: {
    name: "In the database",
    of: ({ databaseBytes }) => databaseBytes,
    format: formatBytes,
    isLevel: true,
  },
};

export function UsageCard({ projectId }: { readonly projectId: string }) {
  const [days, setDays] = useState("30");
  const [keyId, setKeyId] = useState("");
  const [chosen, setChosen] = useState("requests");
  const key = `usage ${projectId} ${days} ${keyId}`;
  const { data, error, reload } = useLoad(
    key,
    (signal) => readUsage(projectId, daysAgo(Number(days) - 1), keyId === "" ? undefined : keyId, signal),
  );
  // So that the choice of a key stays while what it asks for is loaded.
  const [keys, setKeys] = useState<readonly UsageOfKey[]>([]);
  if (data !== undefined && data.keys !== keys) setKeys(data.keys);
  const measures = Object.entries(MEASURES).filter(([, { isLevel }]) => keyId === "" || !isLevel);
  const shown = measures.some(([name]) => name === chosen) ? chosen : "requests";
  const measure = MEASURES[shown];
  return (
    <section class="card" aria-labelledby="over-time-title">
      <h2 id="over-time-title">Usage over time</h2>
      <div class="usage-choices">
        <SelectField label="Shown" value={shown} onChange={setChosen} options={measures.map(toOption)} />
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
            Days are UTC. Requests show within seconds, but for those of an instance of the service that ended
            before it had handed them in. Content that versions share is stored once and belongs to no key.
          </p>
        </>
      )}
    </section>
  );
}

function toOption([value, { name }]: readonly [string, Measure]): readonly [string, string] {
  return [value, name];
}

function nameOfKey({ keyId, name, prefix }: Pick<UsageOfKey, "keyId" | "name" | "prefix">): string {
  if (keyId === null) return "Console";
  if (name) return visible(name);
  return prefix === null ? `Key ${keyId.slice(0, 8)}, forgotten` : `${prefix}…`;
}

function DayTable({ days }: { readonly days: readonly UsageDay[] }) {
  const columns = Object.values(MEASURES);
  return (
    <div class="scroll" role="region" aria-label="Usage by day" tabIndex={0}>
      <ListTable
        class="numbers"
        caption="Usage by day"
        columns={[["Day"], ...columns.map(({ name }) => [name, "number"] as const)]}
      >
        {days.toReversed().map((day) => (
          <tr key={day.day}>
            <th scope="row">{day.day}</th>
            {columns.map(({ name, of, format }) => <td key={name} class="number">{show(of(day), format)}
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
        class="numbers"
        caption="Usage by key"
        columns={[["Key"], ["Requests", "number"], ["Versions made", "number"], [
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

/** UTC. */
function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
}
