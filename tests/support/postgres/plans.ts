/** The plans that Postgres logs for the statements it runs, and the numbers of rows they read. */
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

/** Opens a connection and collects the plans logged on it; there are none before `explainEverything`. */
export function connectNotingPlans(url: string): { readonly sql: postgres.Sql; readonly plans: PlanNode[] } {
  const plans: PlanNode[] = [];
  const onnotice = (notice: postgres.Notice) => plans.push(...plansIn(notice.message ?? ""));
  return { sql: postgres(url, { max: 1, onnotice }), plans };
}

/** From now on every statement is logged with its plan, including those inside functions. */
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

/** The plan in a message of auto_explain: `duration: 0.1 ms plan:`, followed by JSON. */
function plansIn(message: string): PlanNode[] {
  const [, json] = /plan:\s*(\{[\s\S]*)$/.exec(message) ?? [];
  return json === undefined ? [] : [JSON.parse(json).Plan];
}

/** The number of rows read from each of `tables`. Throws if there is no plan, or if a table was read sequentially. */
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

/** Names of the indexes through which a table is read. */
export function indexesUsed(plans: readonly PlanNode[], table: string): string[] {
  return plans.flatMap((node) => [
    ...(node["Relation Name"] === table && node["Index Name"] !== undefined ? [node["Index Name"]] : []),
    ...indexesUsed(node.Plans ?? [], table),
  ]);
}
