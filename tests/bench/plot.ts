/**
 * Draws `supabase/docs/append_cost.svg` from the figures of `deno task bench`: what an append costs against the size
 * of the file.
 *
 * Usage: deno run -A tests/bench/plot.ts [FILE]
 */
import { fileURLToPath } from "node:url";

type Point = readonly [size: number, milliseconds: number];

interface Series {
  readonly name: string;
  readonly colour: string;
  readonly points: readonly Point[];
}

const at = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const FIGURES = at("../../supabase/.temp/bench.json");
const PICTURE = at("../../supabase/docs/append_cost.svg");

const WIDTH = 720;
const HEIGHT = 400;
/** Of the area that is drawn in. */
const LEFT = 70;
const RIGHT = 560;
const TOP = 50;
const BOTTOM = 340;
const SIZE_TICKS: readonly (readonly [number, string])[] = [
  [2 ** 10, "1 KB"],
  [10 * 2 ** 10, "10 KB"],
  [100 * 2 ** 10, "100 KB"],
  [2 ** 20, "1 MB"],
  [10 * 2 ** 20, "10 MB"],
];
const TIME_TICKS = [1, 3, 10, 30, 100, 300, 1000, 3000];

if (import.meta.main) {
  const { series } = JSON.parse(await Deno.readTextFile(Deno.args[0] ?? FIGURES));
  const drawn = draw([
    { name: "by hand", colour: "#c2410c", points: series["append, by hand"] },
    { name: "this project", colour: "#1d4ed8", points: series["append, this project"] },
  ]);
  await Deno.writeTextFile(PICTURE, drawn);
}

/** Both axes are logarithmic. */
function draw(all: readonly Series[]): string {
  const times = all.flatMap(({ points }) => points.map(([, time]) => time));
  const ticks = TIME_TICKS.filter((tick) =>
    tick > Math.min(...times) / 3.4 && tick < Math.max(...times) * 3.4
  );
  const x = scale(SIZE_TICKS[0]?.[0] ?? 1, SIZE_TICKS.at(-1)?.[0] ?? 10, LEFT, RIGHT);
  const y = scale(ticks[0] ?? 1, ticks.at(-1) ?? 10, BOTTOM, TOP);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="title">
<title id="title">An append of 100 bytes costs the same whatever the file's size; by hand it grows with the file.</title>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>
<g font-family="system-ui, sans-serif" font-size="13" fill="#374151">
<text x="${LEFT}" y="28" font-size="15" fill="#111827">Append of 100 bytes against the size of the file, median</text>
${SIZE_TICKS.map(([size, label]) => sizeTick(x(size), label)).join("\n")}
${ticks.map((tick) => timeTick(y(tick), `${tick} ms`)).join("\n")}
<text x="${(LEFT + RIGHT) / 2}" y="${
    BOTTOM + 44
  }" text-anchor="middle">size of the file before the append</text>
</g>
${all.map((series) => curve(series, x, y)).join("\n")}
</svg>
`;
}

/** Where a value lies between two ends. */
function scale(from: number, to: number, start: number, end: number): (value: number) => number {
  const span = Math.log(to) - Math.log(from);
  return (value) => Math.round((start + (Math.log(value) - Math.log(from)) / span * (end - start)) * 10) / 10;
}

function sizeTick(x: number, label: string): string {
  return `<line x1="${x}" x2="${x}" y1="${TOP}" y2="${BOTTOM}" stroke="#e5e7eb"/><text x="${x}" y="${
    BOTTOM + 20
  }" text-anchor="middle">${label}</text>`;
}

function timeTick(y: number, label: string): string {
  return `<line x1="${LEFT}" x2="${RIGHT}" y1="${y}" y2="${y}" stroke="#e5e7eb"/><text x="${LEFT - 8}" y="${
    y + 4
  }" text-anchor="end">${label}</text>`;
}

function curve(
  { name, colour, points }: Series,
  x: (size: number) => number,
  y: (time: number) => number,
): string {
  const places = points.map(([size, time]) => [x(size), y(time)] as const);
  const [, lastY] = places.at(-1) ?? [0, 0];
  const last = points.at(-1)?.[1] ?? NaN;
  return `<g fill="${colour}" font-family="system-ui, sans-serif" font-size="13">
<polyline points="${
    places.map((place) => place.join(",")).join(" ")
  }" fill="none" stroke="${colour}" stroke-width="2.5"/>
${places.map(([px, py]) => `<circle cx="${px}" cy="${py}" r="4"/>`).join("")}
<text x="${RIGHT + 12}" y="${lastY + 4}">${name}, ${last < 10 ? last.toFixed(1) : Math.round(last)} ms</text>
</g>`;
}
