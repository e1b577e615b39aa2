/** The retention rule. It shows which versions the rule would erase before it is saved. */
import { useState } from "preact/hooks";
import { reasonFor } from "../../api/failure.ts";
import { changeRetention, previewRetention, type RetentionPreview } from "../../api/owning.ts";
import type { Project, Retention } from "../../api/projects.ts";
import { FormProblem, TextField, useSubmit } from "../../components/form.tsx";
import { formatCount, formatNumber, visible } from "../../format.ts";
import { notify } from "../../state/notices.ts";
import { updateProject } from "../../state/projects.ts";

const FIELDS = [
  {
    name: "keepVersions",
    label: "Versions to keep",
    hint: "Of each file, the newest. Empty: any number.",
  },
  {
    name: "keepDays",
    label: "Keep replaced versions for (days)",
    hint: "Empty: any age. With both, a version is deleted only if both rules allow it.",
  },
  {
    name: "deletedDays",
    label: "Keep deleted files for (days)",
    hint: "Empty: forever. After that time, a file is erased with all of its versions.",
  },
] as const;

type Texts = Readonly<Record<typeof FIELDS[number]["name"], string>>;

const NOT_A_NUMBER = "must be a whole number, or empty";

export function RetentionCard({ project: { id, retention } }: { readonly project: Project }) {
  const [texts, setTexts] = useState(() => textsOf(retention));
  const [preview, setPreview] = useState<RetentionPreview | null>(null);
  const isUnchanged = JSON.stringify(texts) === JSON.stringify(textsOf(retention));
  const hasFault = FIELDS.some(({ name }) => isFaulty(texts[name]));
  const preparing = useSubmit(async () => setPreview(await previewRetention(id, ruleOf(texts))));
  const save = useSubmit(async () => {
    updateProject(await changeRetention(id, ruleOf(texts)));
    setPreview(null);
    notify("The rule was saved. It deletes versions in the background.");
  });
  const error = save.error ?? preparing.error;
  return (
    <section class="card" aria-labelledby="retention-title">
      <h2 id="retention-title">Retention</h2>
      <p>
        Without a rule, every version is kept. The latest version of a file is always kept, unless the file
        was deleted.
      </p>
      <form onSubmit={hasFault ? (event) => event.preventDefault() : preparing.submit} noValidate>
        {FIELDS.map(({ name, label, hint }) => (
          <TextField
            key={name}
            label={label}
            hint={hint}
            value={texts[name]}
            onInput={(text) => {
              setTexts({ ...texts, [name]: text.trim() });
              // Any edit discards the preview, so that only a previewed rule can be saved.
              setPreview(null);
            }}
            problem={isFaulty(texts[name]) ? NOT_A_NUMBER : reasonFor(error, `retention.${name}`)}
            input={{ autoComplete: "off" }}
          />
        ))}
        <FormProblem error={error} fields={["retention"]} />
        <button type="submit" disabled={preparing.isBusy || isUnchanged || hasFault}>
          Preview deletions
        </button>
      </form>
      {preview !== null && (
        <form class="preview" onSubmit={save.submit} noValidate>
          <Preview preview={preview} />
          <button
            type="submit"
            class={preview.versions > 0 ? "danger solid" : "primary"}
            disabled={save.isBusy}
          >
            {preview.versions > 0 ? "Save rule and delete" : "Save rule"}
          </button>
        </form>
      )}
    </section>
  );
}

function Preview({ preview }: { readonly preview: RetentionPreview }) {
  const { versions, files, examples, lookedAt, isComplete } = preview;
  return (
    <div role="status">
      <p>
        {versions === 0 && isComplete
          ? "Nothing would be deleted."
          : `${isComplete ? "" : "At least "}${formatCount(versions, "version")} would be deleted for good${
            files === 0 ? "" : `, with ${formatCount(files, "deleted file")} as a whole`
          }.`}
        {!isComplete && ` This counts the first ${formatNumber(lookedAt)} files only.`}
      </p>
      {examples.length > 0 && (
        <ul class="plain-list">
          {examples.map((example) => (
            <li key={example.path}>
              <span class="path">{visible(example.path)}</span>{" "}
              {example.whole ? "as a whole" : formatCount(example.versions, "version")}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function textsOf(rule: Retention | null): Texts {
  const text = (value: number | null | undefined) => String(value ?? "");
  return {
    keepVersions: text(rule?.keepVersions),
    keepDays: text(rule?.keepDays),
    deletedDays: text(rule?.deletedDays),
  };
}

function isFaulty(text: string): boolean {
  return !/^\d{0,9}$/.test(text);
}

/** Returns null if all fields are empty. */
function ruleOf(texts: Texts): Retention | null {
  const entries = FIELDS.flatMap(({ name }) => texts[name] === "" ? [] : [[name, Number(texts[name])]]);
  return entries.length === 0 ? null : Object.fromEntries(entries);
}
