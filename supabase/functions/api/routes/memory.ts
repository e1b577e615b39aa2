/** POST /memory: the backend of Anthropic's memory tool. */
import { z } from "zod";
import { readFields } from "../http/json_request.ts";
import { ApiError } from "../errors.ts";
import { idempotencyKey } from "../http/conditions.ts";
import { checkPath } from "../http/path.ts";
import { parseProvenance, PROVENANCE_HEADERS } from "../http/provenance.ts";
import { pick } from "../http/query.ts";
import { json } from "../http/respond.ts";
import { validate } from "../http/validate.ts";
import { MemoryFailure, memoryInput, MemoryTool, scopesOf } from "../memory/memory_tool.ts";
import { defineRoute } from "../route.ts";

const DEFAULT_ROOT = "memories";

const query = z.object({
  root: z.string().optional().meta({
    description: "The folder to use as `/memories`; by default `memories`, below the key's prefix.",
  }),
});

/** The failure of a command is a text for the model; these failures are an error status for the client. */
function isForModel({ status }: ApiError): boolean {
  return status < 500 && ![401, 403, 429].includes(status);
}

export const memory = defineRoute({
  operation: "memory",
  scopes: [],
  parse({ query: given, headers }) {
    const { root } = pick(given, ["root"]);
    return {
      root: root === undefined ? undefined : checkPath(root),
      idempotencyKey: idempotencyKey(headers),
    };
  },
  async handle(context, { root, idempotencyKey }) {
    const input = await readFields(context, z.record(z.string(), z.unknown()));
    const name = input["command"];
    if (name !== "view") context.gate.provenance = parseProvenance(context.request.headers);
    const { pathPrefix } = await context.gate.require(scopesOf(name) ?? []);
    const folder = root ?? (pathPrefix === null ? DEFAULT_ROOT : `${pathPrefix}/${DEFAULT_ROOT}`);
    try {
      if (!scopesOf(name)) {
        throw new MemoryFailure(`${typeof name === "string" ? name : JSON.stringify(name)} not implemented`);
      }
      const tool = new MemoryTool(context, folder, idempotencyKey);
      const content = await tool.run(validate(memoryInput, input));
      const response = json({ content, is_error: false });
      if (tool.isReplayed) response.headers.set("Idempotency-Replayed", "true");
      return response;
    } catch (error) {
      if (error instanceof MemoryFailure) return json({ content: error.message, is_error: true });
      if (!(error instanceof ApiError) || !isForModel(error)) throw error;
      await context.gate.authorizeBeforeReporting(error);
      return json({ content: `${error.code}: ${error.message}`, is_error: true });
    }
  },
  openapi: {
    summary: "Execute one command of the memory tool `memory_20250818`; the body is its input",
    description:
      "The answer has no envelope. It is the content of the tool result; if the command fails, `is_error` is true.",
    query,
    body: memoryInput,
    headers: ["Idempotency-Key", ...PROVENANCE_HEADERS],
    isPlain: true,
    answer: "memoryAnswer",
    errors: ["INVALID_PATH"],
    example: { command: "create", path: "/memories/plan.md", file_text: "- ship it\n" },
  },
});
