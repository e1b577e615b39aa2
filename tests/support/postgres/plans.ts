/** The plans that Postgres tells of the statements it runs, and the rows that were really read. */
import { assert } from "@std/assert";
import postgres from "postgres";

/** A node of `explain (analyze, format json)`. */
export interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly Plans?: readonly PlanNode[];
}

/** One connection, and the plans that were told on it: none before `explainEverything`. */
export function connectNotingPlans(url: string): { readonly sql: postgres.Sql; readonly plans: PlanNode[] } {
  const plans: PlanNode[] = [];
  const onnotice = (notice: postgres.Notice) => plans.push(...plansIn(notice.message ?? ""));
  return { sql: postgres(url, { max: 1, onnotice }), plans };
}

/** From now on every statement is told with its plan, those inside of functions too. */
export async function explainEverything(sql: postgres.Sql): Promise<void> {
  await sql.unsafe(`
    load 'auto_explain';
    set auto_explain.log_min_duration = 0;
    set auto_explain.log_analyze = on;
    set auto_explain.log_timing = off;
    set auto_explain.log_nested_statements = on;
    set auto_explain.log_format = 'json';
    set auto_explain.log_level = 'notice'`).simple();
}

/** The plan in a message of auto_explain: `duration: 0.1 ms  plan:` and then JSON. */
function plansIn(message: string): PlanNode[] {
  const [, json] = /plan:\s*(\{[\s\S]*)$/.exec(message) ?? [];
  return json === undefined ? [] : [JSON.parse(json).Plan];
}

/** Rows that were read of each of `tables`. Fails without a plan, and where one of them was read from end to end. */
export function rowsRead(plans: readonly PlanNode[], tables: readonly string[]): Record<string, number> {
  assert(plans.length > 0, "Postgres told no plan");
  const rows: Record<string, number> = Object.fromEntries(tables.map((table) => [table, 0]));
  const visit = (node: PlanNode) => {
    const table = node["Relation Name"];
    if (table !== undefined && table in rows && node["Node Type"].endsWith("Scan")) {
      assert(node["Node Type"] !== "Seq Scan", `${table} is read from end to end: ${JSON.stringify(node)}`);
      const dropped = (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0);
      rows[table] = (rows[table] ?? 0) + (node["Actual Rows"] + dropped) * node["Actual Loops"];
    }
    node.Plans?.forEach(visit);
  };
  plans.forEach(visit);
  return rows;
}

/** Names of the indexes by which a table is read. */
export function indexesUsed(plans: readonly PlanNode[], table: string): string[] {
  return plans.flatMap((node) => [
    ...(node["Relation Name"] === table && node["Index Name"] !== undefined ? [node["Index Name"]] : []),
    ...indexesUsed(node.Plans ?? [], table),
  ]);
}
