/** A tool: its description for a model, the schema of its arguments, the scopes that it needs, and its function. */
import type { z } from "zod";
import type { Context } from "../context.ts";
import type { Scope } from "../contract/values.ts";
import { type Arguments, parseArguments, schemaOfArguments } from "./arguments.ts";

/** A result: text for a model, and an image where the file is one. */
export interface ToolOutput {
  readonly text: string;
  readonly image?: { readonly data: string; readonly mimeType: string };
}

interface ToolProperties {
  readonly name: string;
  /** The name that clients show to people. */
  readonly title: string;
  /** For a model: what it does, when to use it, what to do next. */
  readonly description: string;
  /** A key that lacks one of them is not shown the tool. */
  readonly scopes: readonly Scope[];
  /** By default every key may use it; otherwise a key confined to one of these folders, or to none. */
  readonly mayUse?: (pathPrefix: string | null) => boolean;
  /** `reads` changes nothing; `adds` keeps the file's present content in the latest version; `replaces` may not. */
  readonly effect: "reads" | "adds" | "replaces";
}

export interface Tool extends ToolProperties {
  readonly inputSchema: Arguments;
  /** Throws VALIDATION_ERROR for arguments that break the schema, ToolRefusal and ApiError. */
  readonly call: (context: Context, given: unknown) => Promise<ToolOutput>;
}

interface ToolDefinition<Shape extends z.ZodRawShape> extends ToolProperties {
  readonly input: z.ZodObject<Shape>;
  readonly run: (context: Context, input: z.infer<z.ZodObject<Shape>>) => Promise<string | ToolOutput>;
}

/** Hides the type of a tool's arguments, so that one table can hold all tools. */
export function defineTool<Shape extends z.ZodRawShape>(definition: ToolDefinition<Shape>): Tool {
  const { input, run, ...tool } = definition;
  const inputSchema = schemaOfArguments(input);
  return {
    ...tool,
    inputSchema,
    async call(context, given) {
      const output = await run(context, parseArguments(input, inputSchema, given));
      return typeof output === "string" ? { text: output } : output;
    },
  };
}
