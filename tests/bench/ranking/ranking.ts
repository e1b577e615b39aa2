/**
 * The quality of search by words, by meaning and by both, for published documents and questions that are their
 * headings. On a stack of its own, with the local sentence model. Only the first half of the questions is used to tune
 * the ranking.
 */
import { z } from "zod";
import { packageDocumentation } from "../../support/content/package_docs.ts";
import { inParallel } from "../../support/in_parallel.ts";
import { type Bench, sized } from "../bench.ts";
import { startBenchStack } from "../bench_stack.ts";
import { Client } from "../client.ts";
import { atLeast, type Report } from "../report.ts";
import { type CachedModel, startCachedModel } from "./cached_model.ts";
import { halfWidth, mean, ndcgAt10, probabilityOfWorse, recallAt10 } from "./figures.ts";
import { labelledSet, type Question } from "./questions.ts";

const KINDS = ["lexical", "semantic", "hybrid"] as const;
type Kind = typeof KINDS[number];
type Figures = Readonly<Record<"ndcg" | "recall", readonly number[]>>;

const OPERATIONS_PER_BATCH = 20;
const QUESTIONS_AT_ONCE = 4;
/** Hundredths of the documents in a brief run, so that both halves have questions. */
const DOCUMENTS_BRIEF = 2;
/** Below this probability hybrid counts as worse. */
const SIGNIFICANCE = 0.05;

const searchAnswer = z.object({
  data: z.object({
    mode: z.string(),
    results: z.array(z.object({ path: z.string() })),
    indexed: z.object({ pending: z.int() }),
  }),
});

export async function ranking({ report }: Bench): Promise<void> {
  const all = await packageDocumentation();
  const { documents, questions } = labelledSet(all.slice(0, DOCUMENTS_BRIEF * sized(all.length)));
  report.group(`Ranking of ${documents.length} documents of npm packages for their headings`);
  const model = await startCachedModel();
  const stack = await startBenchStack(undefined, {
    EMBEDDINGS_URL: model.url,
    EMBEDDINGS_MODEL: model.model,
  });
  try {
    const client = new Client(stack.baseUrl, (await stack.project()).key);
    for (let at = 0; at < documents.length; at += OPERATIONS_PER_BATCH) {
      await client.send("POST", "/batch", {
        operations: documents.slice(at, at + OPERATIONS_PER_BATCH)
          .map(({ path, text }) => ({ op: "write", path, content: text })),
      });
    }
    while ((await search(client, "anything", "semantic", 10)).indexed.pending > 0);
    for (const half of ["tuning", "unseen"] as const) {
      const asked = questions.filter((question) => question.half === half);
      reportHalf(report, half, await measure(client, model, asked));
    }
  } finally {
    await stack.stop();
    await model.stop();
  }
}

async function measure(
  client: Client,
  model: CachedModel,
  questions: readonly Question[],
): Promise<Record<Kind, Figures>> {
  const found: Partial<Record<Kind, Figures>> = {};
  for (const kind of KINDS) {
    model.isRefusing = kind === "lexical";
    const answers = await inParallel(questions, QUESTIONS_AT_ONCE, async ({ q, answers }) => {
      const { mode, results } = await search(client, q, kind === "semantic" ? kind : "hybrid");
      if (mode !== kind) throw new Error(`${q}: ${mode} and not ${kind}`);
      const paths = results.map(({ path }) => path);
      return { ndcg: ndcgAt10(paths, answers), recall: recallAt10(paths, answers) };
    });
    found[kind] = { ndcg: answers.map(({ ndcg }) => ndcg), recall: answers.map(({ recall }) => recall) };
  }
  model.isRefusing = false;
  const { lexical, semantic, hybrid } = found;
  if (!lexical || !semantic || !hybrid) throw new Error("a kind was left out");
  return { lexical, semantic, hybrid };
}

function reportHalf(report: Report, half: string, figures: Record<Kind, Figures>): void {
  const { lexical, semantic, hybrid } = figures;
  const better = mean(lexical.ndcg) >= mean(semantic.ndcg) ? "lexical" : "semantic";
  report.remark(`${hybrid.ndcg.length} questions of the ${half} half, means with 95 % intervals`);
  for (const kind of KINDS) {
    const { ndcg, recall } = figures[kind];
    report.value(`${half}: nDCG@10, ${kind}`, mean(ndcg), `± ${halfWidth(ndcg).toFixed(3)}`, null);
    report.value(`${half}: recall@10, ${kind}`, mean(recall), `± ${halfWidth(recall).toFixed(3)}`, null);
  }
  for (const [name, measure] of [["nDCG@10", "ndcg"], ["recall@10", "recall"]] as const) {
    report.value(
      `${half}: p of hybrid worse than ${better}, ${name}`,
      probabilityOfWorse(hybrid[measure], figures[better][measure]),
      "",
      half === "unseen" && measure === "ndcg" ? atLeast(SIGNIFICANCE, "value") : null,
    );
  }
}

async function search(client: Client, q: string, mode: string, wait = 0) {
  const query = new URLSearchParams({ q, mode, limit: "10", wait: String(wait) });
  return searchAnswer.parse(JSON.parse(await client.send("GET", `/search?${query}`))).data;
}
