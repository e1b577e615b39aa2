/** The filters of the activity; the address stores them. */
import { useEffect, useState } from "preact/hooks";
import { SelectField, TextField } from "../../components/form.tsx";
import { OPERATIONS } from "../../format.ts";
import { ensureKeys, keysOf } from "../../state/keys.ts";
import { type ActivityPlace, goTo } from "../../state/router.ts";

const KINDS: readonly (readonly [string, string])[] = Object.entries(OPERATIONS).map((
  [operation, done],
) => [operation, done.charAt(0).toUpperCase() + done.slice(1)]);

const NAMES = ["directory", "keyId", "actor", "run", "operation", "since", "until"] as const;
type Name = typeof NAMES[number];

export function hasFilters(place: ActivityPlace): boolean {
  return NAMES.some((name) => place[name] !== undefined);
}

export function ActivityFilters({ place }: { readonly place: ActivityPlace }) {
  const { projectId, keyId = "", operation = "" } = place;
  useEffect(() => void ensureKeys(projectId), [projectId]);
  const apply = (name: Name, value: string) => {
    const text = name === "directory" ? value.trim().replace(/^\/+|\/+$/g, "") : value.trim();
    if (text !== (place[name] ?? "")) goTo({ ...place, before: undefined, [name]: text || undefined });
  };
  const text = (name: Name, label: string, type: "text" | "datetime-local" = "text") => (
    <FilterText
      {...{ label, type }}
      kept={place[name] ?? ""}
      onLeave={(value) => apply(name, value)}
    />
  );
  const select = (name: Name, label: string, value: string, options: typeof KINDS) => (
    <SelectField
      {...{ label, value }}
      onChange={(next) => apply(name, next)}
      options={[["", "All"], ...options]}
    />
  );
  return (
    <form
      class="filters"
      role="search"
      aria-label="Filters of the activity"
      onSubmit={(event) => event.preventDefault()}
    >
      {text("directory", "Folder")}
      {select("keyId", "Key", keyId, keyOptions(projectId, keyId))}
      {text("actor", "Actor")}
      {text("run", "Run")}
      {select("operation", "Kind", operation, KINDS)}
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

interface TextProperties {
  readonly label: string;
  readonly type: "text" | "datetime-local";
  readonly kept: string;
  readonly onLeave: (value: string) => void;
}

/** Takes effect on blur or Enter. */
function FilterText({ label, type, kept, onLeave }: TextProperties) {
  const [value, setValue] = useState(kept);
  useEffect(() => setValue(kept), [kept]);
  return (
    <TextField
      {...{ label, type, value }}
      onInput={setValue}
      input={{
        autoComplete: "off",
        spellcheck: false,
        onChange: ({ currentTarget }) => onLeave(currentTarget.value),
      }}
    />
  );
}

/** Returns the keys to choose from, including the key of the address even if it is unknown. */
function keyOptions(projectId: string, chosen: string): typeof KINDS {
  const options = (keysOf(projectId) ?? []).map(({ id, name, prefix }) =>
    [id, name === null || name === "" ? `${prefix}…` : name] as const
  );
  return chosen === "" || options.some(([id]) => id === chosen)
    ? options
    : [...options, [chosen, `Key ${chosen.slice(0, 8)}`]];
}
