/** What the activity shows; it is kept in the address. */
import { useEffect, useRef, useState } from "preact/hooks";
import { SelectField, TextField } from "../../components/form.tsx";
import { ensureKeys, keysOf } from "../../state/keys.ts";
import { type ActivityPlace, goTo } from "../../state/router.ts";

/** Of the API, with names for people. */
const KINDS: readonly (readonly [string, string])[] = [
  ["write", "Written"],
  ["append", "Appended"],
  ["overwrite", "Overwritten"],
  ["edit", "Edited"],
  ["delete", "Deleted"],
  ["restore", "Restored"],
  ["copy", "Copied"],
  ["move", "Moved"],
  ["undo", "Undone"],
  ["purge", "Purged"],
];

type Name = "actor" | "keyId" | "run" | "directory" | "operation" | "since" | "until";
type Texts = Readonly<Record<Name, string>>;

const NAMES: readonly Name[] = ["directory", "keyId", "actor", "run", "operation", "since", "until"];

export function hasFilters(place: ActivityPlace): boolean {
  return NAMES.some((name) => place[name] !== undefined);
}

/** A field takes effect when it is left, or with Enter. */
export function ActivityFilters({ place }: { readonly place: ActivityPlace }) {
  const { projectId } = place;
  const kept = textsOf(place);
  const [texts, setTexts] = useState(kept);
  useEffect(() => setTexts(kept), [JSON.stringify(kept)]);
  useEffect(() => void ensureKeys(projectId), [projectId]);
  const apply = (next: Texts) => {
    const query = queryOf(next);
    if (JSON.stringify(queryOf(kept)) !== JSON.stringify(query)) {
      goTo({ name: "activity", projectId, ...query });
    }
  };
  const latest = useRef(texts);
  latest.current = texts;
  const set = (name: Name) => (value: string) => {
    latest.current = { ...latest.current, [name]: value };
    setTexts(latest.current);
  };
  const text = (name: Name, label: string, type: "text" | "datetime-local" = "text") => (
    <TextField
      {...{ label, type }}
      value={texts[name]}
      onInput={set(name)}
      input={{ autoComplete: "off", spellcheck: false }}
    />
  );
  const select = (name: Name, label: string, options: readonly (readonly [string, string])[]) => (
    <SelectField
      {...{ label }}
      value={texts[name]}
      onChange={set(name)}
      options={[["", "All"], ...options]}
    />
  );
  return (
    <form
      class="filters"
      role="search"
      aria-label="Filters of the activity"
      onSubmit={(event) => {
        event.preventDefault();
        apply(latest.current);
      }}
      // After that of the field, which knows the text.
      onChange={() => apply(latest.current)}
    >
      {text("directory", "Folder")}
      {select("keyId", "Key", keyOptions(projectId, texts.keyId))}
      {text("actor", "Actor")}
      {text("run", "Run")}
      {select("operation", "Kind", KINDS)}
      {text("since", "From", "datetime-local")}
      {text("until", "Until", "datetime-local")}
      <button type="submit" class="visually-hidden" tabIndex={-1}>Filter</button>
      <button
        type="button"
        disabled={!hasFilters(place)}
        onClick={() => goTo({ name: "activity", projectId })}
      >
        Clear filters
      </button>
    </form>
  );
}

function textsOf(place: ActivityPlace): Texts {
  const { actor = "", keyId = "", run = "", directory = "", operation = "", since = "", until = "" } = place;
  return { actor, keyId, run, directory, operation, since, until };
}

function queryOf(texts: Texts): Partial<Record<Name, string>> {
  const trimmed = NAMES.map((name) => {
    const text = texts[name].trim();
    return [name, name === "directory" ? text.replace(/^\/+|\/+$/g, "") : text] as const;
  });
  return Object.fromEntries(trimmed.filter(([, text]) => text !== ""));
}

/** The key of the address is among them, even if it is not known. */
function keyOptions(projectId: string, chosen: string): readonly (readonly [string, string])[] {
  const options = (keysOf(projectId) ?? []).map(({ id, name, prefix }) =>
    [id, name === null || name === "" ? `${prefix}…` : name] as const
  );
  return chosen === "" || options.some(([id]) => id === chosen)
    ? options
    : [...options, [chosen, `Key ${chosen.slice(0, 8)}`]];
}
