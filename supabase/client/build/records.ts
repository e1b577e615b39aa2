/** The declarations of the records, from the schemas of the contract. */
import { z } from "zod";
import * as branches from "../../functions/api/contract/branches.ts";
import * as files from "../../functions/api/contract/files.ts";
import * as links from "../../functions/api/contract/links.ts";
import * as runs from "../../functions/api/contract/runs.ts";
import * as search from "../../functions/api/contract/search.ts";
import * as versions from "../../functions/api/contract/versions.ts";

/** The schemas of the records that `library/records.ts` names. A test compares the names. */
export const RECORDS: Readonly<Record<string, z.ZodType>> = {
  Branch: branches.branch,
  BranchDetails: branches.branchDetails,
  BranchPage: branches.branchPage,
  MergeResult: branches.mergeResult,
  BatchResults: files.batchResults,
  DiffRecord: files.diffRecord,
  FileList: files.fileList,
  FileRecord: files.fileRecord,
  FolderResult: files.folderResult,
  Purged: files.purged,
  ReadRecord: files.readRecord,
  Redacted: files.redacted,
  CreatedLink: links.createdLink,
  Link: links.link,
  LinkList: links.linkList,
  RevokedLink: links.revokedLink,
  Run: runs.runPage.shape.runs.element,
  RunDetails: runs.runDetails,
  RunPage: runs.runPage,
  UndoResult: runs.undoResult,
  SearchResults: search.searchResults,
  Change: versions.changePage.shape.changes.element,
  ChangePage: versions.changePage,
  Version: versions.versionList.shape.versions.element,
  VersionList: versions.versionList,
};

export function recordTypes(): string {
  const types = Object.entries(RECORDS).map(([name, schema]) => {
    const json = z.toJSONSchema(schema, { io: "output", reused: "inline", unrepresentable: "any" });
    return `export type ${name} = ${typeOf(json, json)};\n`;
  });
  return `/** The records of the service, as its contract describes them. */\n${types.join("")}`;
}

type Schema = Readonly<Record<string, unknown>>;

/** The type that a JSON Schema describes; references are to the definitions of `root`. */
function typeOf(value: unknown, root: Schema): string {
  if (!isSchema(value)) return "unknown";
  const { $ref, const: only, enum: words, type, items, anyOf, additionalProperties: rest } = value;
  if (typeof $ref === "string") return typeOf(definition($ref, root), root);
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(words)) return words.map((word) => JSON.stringify(word)).join(" | ");
  if (Array.isArray(anyOf)) return anyOf.map((one) => typeOf(one, root)).join(" | ");
  if (type === "array") return `ReadonlyArray<${typeOf(items, root)}>`;
  if (type === "object" && isSchema(value["properties"])) return objectOf(value, root);
  if (type === "object") return `Readonly<Record<string, ${typeOf(rest, root)}>>`;
  if (type === "integer" || type === "number") return "number";
  return ["string", "boolean", "null"].find((name) => name === type) ?? "unknown";
}

function objectOf(schema: Schema, root: Schema): string {
  const { properties, required } = schema;
  if (!isSchema(properties)) return "unknown";
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  const fields = Object.entries(properties).map(([name, value]) => {
    const described = isSchema(value) && typeof value["description"] === "string" ? value["description"] : "";
    const comment = described === "" ? "" : `/** ${described.replaceAll("*/", "*\\/")} */ `;
    return `${comment}readonly ${name}${needed.includes(name) ? "" : "?"}: ${typeOf(value, root)};`;
  });
  return `{ ${fields.join(" ")} }`;
}

function definition(reference: string, root: Schema): unknown {
  const name = reference.split("/").at(-1) ?? "";
  const { $defs } = root;
  return isSchema($defs) ? $defs[name] : undefined;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
