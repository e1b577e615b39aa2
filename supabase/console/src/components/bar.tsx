/** Shows how much of a limit is used. */
interface Properties {
  readonly label: string;
  readonly value: number;
  /** Null: no limit. */
  readonly max: number | null;
  readonly format: (value: number) => string;
}

export function Bar({ label, value, max, format }: Properties) {
  const text = max === null ? format(value) : `${format(value)} of ${format(max)}`;
  const share = max === null || max === 0 ? 0 : value / max;
  return (
    <div class="bar">
      <div class="bar-head">
        <span>{label}</span>
        <span class="bar-value">{text}</span>
      </div>
      {max === null ? null : (
        <progress
          aria-label={`${label}: ${text}`}
          value={Math.min(value, max)}
          max={max}
          class={levelOf(share)}
        />
      )}
    </div>
  );
}

function levelOf(share: number): string {
  if (share >= 0.95) return "full";
  return share >= 0.75 ? "high" : "low";
}
