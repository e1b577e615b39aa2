/** A week of research agents, for pictures: five runs on five days, their files, and what changed between them. */
import type { Person } from "../support/browser/person.ts";
import type { Service } from "../support/stack/service.ts";

export const FOLDER_SHOWN = "research/battery-prices";
export const REPORT = `${FOLDER_SHOWN}/report.md`;
/** The run of which the pictures show the page. */
export const RUN = "weekly-report-47";

interface Run {
  readonly id: string;
  readonly actor: string;
  readonly note: string;
  readonly daysAgo: number;
  readonly work: (agent: Agent) => Promise<void>;
}

/** Writes below the folder that is shown, as an agent in a run. */
interface Agent {
  readonly write: (path: string, content: string) => Promise<void>;
  readonly append: (path: string, content: string) => Promise<void>;
  readonly edit: (path: string, ...changes: readonly (readonly [string, string])[]) => Promise<void>;
}

const REPORT_FIRST = `# Battery prices, third quarter

Prices fell for the third quarter in a row. The main reason is lithium carbonate.

## Figures

| month     | price per kWh | change |
| --------- | ------------- | ------ |
| July      | 112 $         | −2.6 % |
| August    | 109 $         | −2.7 % |
| September | 108 $         | −0.9 % |

## What the sources say

- Cell makers in Ningde and Debrecen run at 61 % of their capacity.
- Two of five suppliers index their contracts to the carbonate price.
- Stationary batteries take a fifth of all cells, a year ago it was a seventh.

## Open questions

- Is the September figure final?
- Which share do stationary batteries have?
`;

const PRICES = [
  ["2026-07", "112.4", "ningde", "spot"],
  ["2026-07", "113.1", "debrecen", "contract"],
  ["2026-08", "109.0", "ningde", "spot"],
  ["2026-08", "110.2", "debrecen", "contract"],
  ["2026-09", "108.3", "ningde", "spot"],
  ["2026-09", "107.9", "debrecen", "contract"],
];

const CLEAN = `import csv
import sys
from decimal import Decimal


def rows(path):
    with open(path, newline="") as file:
        yield from csv.DictReader(file)


def clean(row):
    row["price"] = Decimal(row["price"].replace(",", "."))
    return row if row["price"] > 0 else None


for row in filter(None, map(clean, rows(sys.argv[1]))):
    print(row["month"], row["price"], sep=",")
`;

function csv(rows: readonly (readonly string[])[]): string {
  return `month,price,plant,kind\n${rows.map((row) => row.join(",")).join("\n")}\n`;
}

function page(month: string, price: string): string {
  return `<article>\n  <h1>${month}</h1>\n  <p>Cells: ${price} $ per kWh</p>\n</article>\n`;
}

function steps(...names: readonly string[]): string {
  return names.map((name, index) => `06:0${index}:12 ${name}\n`).join("");
}

const SOURCES = Array.from({ length: 40 }, (_, number) => ({
  id: number + 1,
  url: `https://prices.example/${number + 1}`,
  kind: number % 3 === 0 ? "contract" : "spot",
}));

const RUNS: readonly Run[] = [
  {
    id: "collect-sources-12",
    actor: "collector/1.4",
    note: "forty sources for the third quarter",
    daysAgo: 6,
    async work({ write, append }) {
      await write("sources.json", `${JSON.stringify({ sources: SOURCES }, null, 2)}\n`);
      for (const [month, price] of [["July", "112"], ["August", "109"], ["September", "108"]] as const) {
        await write(`raw/${month.toLowerCase()}.html`, page(month, price));
      }
      await write("run.log", steps("fetched 40 sources"));
      await append("run.log", steps("stored 3 pages"));
    },
  },
  {
    id: "clean-prices-9",
    actor: "analyst/2.0",
    note: "commas in decimals",
    daysAgo: 5,
    async work({ write, append }) {
      await write("clean_prices.py", CLEAN);
      await write("prices.csv", csv(PRICES.slice(0, 4)));
      await append("run.log", steps("cleaned 4 rows"));
    },
  },
  {
    id: "weekly-report-46",
    actor: "planner/2.1",
    note: "the first draft",
    daysAgo: 3,
    async work({ write, append }) {
      await write("report.md", REPORT_FIRST);
      await write("drafts/outline.md", "# Outline\n\n1. Figures\n2. Reasons\n3. Open questions\n");
      await write("notes.md", "# Notes\n\n- ask for the August revision\n- Debrecen reports a month late\n");
      await append("run.log", steps("wrote the report"));
    },
  },
  {
    id: "fact-check-12",
    actor: "editor/0.9",
    note: "every figure has a source",
    daysAgo: 2,
    async work({ edit, append }) {
      await edit("report.md", ["run at 61 %", "run at 58 %"], [
        "a fifth of all cells",
        "22 % of all cells",
      ]);
      await append("notes.md", "- figures need a source (58 %: source 14)\n");
    },
  },
  {
    id: RUN,
    actor: "planner/2.1",
    note: "the revised September figure",
    daysAgo: 0.1,
    async work({ write, edit, append }) {
      await edit(
        "report.md",
        [
          "The main reason is lithium carbonate.",
          "Lithium carbonate explains two thirds of it; the rest is\novercapacity in cell production.",
        ],
        ["| September | 108 $         | −0.9 % |", "| September | 106 $         | −2.8 % |"],
        ["- Is the September figure final?\n", ""],
      );
      await write("prices.csv", csv([...PRICES.slice(0, 4), ["2026-09", "106.1", "ningde", "spot"]]));
      await append("notes.md", "- September is final\n");
      await write(
        "summary.md",
        "Prices fell for the third quarter in a row, in September to 106 $ per kWh.\n",
      );
      await append("run.log", steps("fetched the revision", "wrote the summary"));
    },
  },
];

/** Files of other agents, which no picture opens. */
const OTHERS: Readonly<Record<string, string>> = {
  [`${FOLDER_SHOWN}/chart.svg`]: `<svg xmlns="http://www.w3.org/2000/svg" width="640" height="360"/>\n`,
  "research/solar/plan.md": "# Plan\n\n- module prices by country\n",
  "research/wind/plan.md": "# Plan\n\n- turbines above 6 MW\n",
  "agents/writer/memory.md": "- short sentences\n",
  "agents/editor/memory.md": "- figures need a source\n",
  "inbox/question.txt": "What happened in September?\n",
};

export async function fillWeek(service: Service, { files, projectId }: Person): Promise<void> {
  await service.sql("update filestore.projects set name = 'Market research' where id = $1", [projectId]);
  for (const [path, content] of Object.entries(OTHERS)) await files.write(path, content);
  for (const { id, actor, note, work } of RUNS) {
    const headers = { "x-run-id": id, "x-actor": actor, "x-change-note": note };
    const send = async (method: string, path: string, body: unknown) => {
      const { status, text } = await files.request(method, path, { body, headers });
      if (status !== 200) throw new Error(`${method} ${path}: ${text}`);
    };
    await work({
      write: (path, content) => send("POST", "/files", { path: `${FOLDER_SHOWN}/${path}`, content }),
      append: (path, content) => send("PUT", `/files/append/${FOLDER_SHOWN}/${path}`, { content }),
      edit: (path, ...changes) => {
        const edits = changes.map(([oldString, newString]) => ({ oldString, newString }));
        return send("PUT", `/files/edit/${FOLDER_SHOWN}/${path}`, { edits });
      },
    });
  }
  await spread(service, projectId);
}

/** Otherwise everything would be of the same second: each run gets its day, with half a minute between its versions. */
async function spread(service: Service, projectId: string): Promise<void> {
  const days = Object.fromEntries(RUNS.map(({ id, daysAgo }) => [id, daysAgo]));
  await service.sql(
    `update filestore.file_versions v set created_at = now()
       - coalesce(($2::text::jsonb ->> v.run_id)::numeric, 6.5) * interval '1 day'
       + (v.position - (select min(p.position) from filestore.file_versions p
          where p.project_id = v.project_id and p.run_id is not distinct from v.run_id)) * interval '30 seconds'
     where v.project_id = $1`,
    [projectId, JSON.stringify(days)],
  );
  await service.sql(
    `update filestore.files f set
       created_at = (select min(v.created_at) from filestore.file_versions v where v.file_id = f.id),
       updated_at = (select max(v.created_at) from filestore.file_versions v where v.file_id = f.id)
     where f.project_id = $1`,
    [projectId],
  );
}
