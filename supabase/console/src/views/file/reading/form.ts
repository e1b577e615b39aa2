/** The form in which a text is shown, other than its source. */
import { nameOf } from "../../../format.ts";
import { shownType } from "../../../components/shown_type.ts";
import type { FileRecord } from "../../../api/files.ts";
import type { FilePlace } from "../../../state/router.ts";

export type Form = "markdown" | "csv" | "tsv" | "jsonl" | "json" | "source";

const BY_EXTENSION: Readonly<Record<string, Form>> = {
  jsonl: "jsonl",
  ndjson: "jsonl",
  tab: "tsv",
  tsv: "tsv",
  // These formats allow comments, which the tree does not.
  json5: "source",
  jsonc: "source",
};

const BY_TYPE: Readonly<Record<string, Form>> = {
  "application/json": "json",
  "text/csv": "csv",
  "text/markdown": "markdown",
};

export function formOf(file: { readonly path: string; readonly mimeType: string }): Form {
  const extension = /[^.]\.([^.]+)$/.exec(nameOf(file.path))?.[1]?.toLowerCase() ?? "";
  const type = shownType(file);
  const byExtension = Object.hasOwn(BY_EXTENSION, extension) ? BY_EXTENSION[extension] : undefined;
  // A specific type takes precedence over the extension: data.jsonl may be stored as CSV.
  const isNamed = type !== "text/plain" && type !== "application/json";
  return (isNamed ? undefined : byExtension) ?? BY_TYPE[type] ?? "source";
}

/** The label of the button that shows a text in its form. */
export const FORM_NAMES: Readonly<Record<Exclude<Form, "source">, string>> = {
  markdown: "Rendered",
  csv: "Table",
  tsv: "Table",
  jsonl: "Table",
  json: "Tree",
};

/** Whether the form needs the whole text: a part of a table or a tree does not stand alone. */
export function isData(form: Form): boolean {
  return form === "csv" || form === "tsv" || form === "jsonl" || form === "json";
}

/** Whether agents usually append to such a file: a log, plain text, or lines of JSON. */
export function mayGrow(file: { readonly path: string; readonly mimeType: string }): boolean {
  const form = formOf(file);
  return form === "jsonl" || form === "source" && shownType(file) === "text/plain";
}

/** A requested row. A new `goes` requests the same row again. */
export interface RowAsked {
  readonly number: number;
  readonly goes: number;
}

export interface FormProperties {
  readonly place: FilePlace;
  readonly record: FileRecord;
  readonly form: Form;
  readonly text: string;
  readonly row: RowAsked | undefined;
  /** Called with a sentence for the person if the text cannot be shown in the form. */
  readonly onProblem: (problem: string) => void;
}
