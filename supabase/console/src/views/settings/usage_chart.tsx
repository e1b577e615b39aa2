/** One bar for each day. The same numbers stand in the table below it. */
import type { UsageDay } from "../../api/owning.ts";

/** A quantity of days. */
export interface Measure {
  readonly name: string;
  readonly of: (day: UsageDay) => number | null;
  readonly format: (value: number) => string;
  /** Whether it is a state, which belongs to no key and is not added up. */
  readonly isLevel: boolean;
}

/** In the units of the drawing, which is stretched to the width that there is. */
const STEP = 10;
const HEIGHT = 100;
/** A day that is not zero is seen. */
const BAR_HEIGHT_MIN = 2;

interface Properties {
  readonly days: readonly UsageDay[];
  readonly measure: Measure;
}

export function UsageChart({ days, measure }: Properties) {
  const { of, format } = measure;
  const most = Math.max(0, ...days.map((day) => of(day) ?? 0));
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
          const value = of(day) ?? 0;
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

/** `Requests: 120 in all, at most 40 on 2026-01-31.` */
function summaryOf(
  days: readonly UsageDay[],
  { name, of, format, isLevel }: Properties["measure"],
  most: number,
): string {
  const peak = days.find((day) => of(day) === most)?.day;
  if (most === 0 || peak === undefined) return `${name}: none in this period.`;
  const sum = days.reduce((total, day) => total + (of(day) ?? 0), 0);
  const last = days.map(of).findLast((value) => value !== null) ?? 0;
  return `${name}: ${isLevel ? `${format(last)} now` : `${format(sum)} in all`}, at most ${
    format(most)
  } on ${peak}.`;
}
