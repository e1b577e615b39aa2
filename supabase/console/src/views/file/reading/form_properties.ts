/** What a text is shown with in its form. */
import type { FileRecord } from "../../../api/records.ts";
import type { FilePlace } from "../../../state/router.ts";
import type { Form } from "./form.ts";

/** A row that was asked for; `goes` tells the same row asked for again. */
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
  /** Called with a sentence if the text cannot be shown in the form. */
  readonly onProblem: (problem: string) => void;
}
