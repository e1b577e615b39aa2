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
    label: "Newest versions of a file that stay",
    hint: "Empty: their number does not matter.",
  },
  {
    name: "keepDays",
    label: "Days that a version stays after the next one",
    hint: "Empty: their age does not matter. With both, a version goes only when both let it go.",
  },
  {
    name: "deletedDays",
    label: "Days that a deleted file can be restored",
    hint: "Empty: for ever. Then it goes with all of its versions.",
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
    notify("The rule was saved. What it lets go is removed in the background.");
  });
  const error = save.error ?? preparing.error;
  return (
    <section class="card" aria-labelledby="retention-title">
      <h2 id="retention-title">What goes by itself</h2>
      <p>
        Without a rule every version stays. The latest version of a file that is not deleted always stays.
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
          Show what would go
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
            {preview.versions > 0 ? "Save the rule and let them go" : "Save the rule"}
          </button>
        </form>
      )}
    </section>
  );
}

function Preview({ preview }: { readonly preview: RetentionPreview }) {
  const { versions, files, examples, lookedAt, isComplete } = preview;
  const most = isComplete ? "" : "at least ";
  return (
    <div role="status">
      <p>
        {versions === 0 && isComplete
          ? "Nothing would go now."
          : `Now ${most}${formatCount(versions, "version")} would go for good${
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
