/** The filters of the activity, a chip for each; the address stores them. */
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { IconButton } from "../../components/icon.tsx";
import { MenuButton } from "../../components/menu_button.tsx";
import { formatTime, OPERATIONS, shortenId, visible } from "../../format.ts";
import { keysOf } from "../../state/keys.ts";
import { type ActivityPlace, goTo } from "../../state/router.ts";

const LABELS = {
  directory: "Folder",
  keyId: "Key",
  actor: "Actor",
  run: "Run",
  operation: "Kind",
  since: "From",
  until: "Until",
} as const;
type Name = keyof typeof LABELS;
const NAMES = Object.keys(LABELS) as readonly Name[];

type Options = readonly (readonly [value: string, text: string])[];

const KINDS: Options = Object.entries(OPERATIONS).map(([operation, done]) => [
  operation,
  done.charAt(0).toUpperCase() + done.slice(1),
]);

export function hasFilters(place: ActivityPlace): boolean {
  return NAMES.some((name) => place[name] !== undefined);
}

export function useFilters(place: ActivityPlace) {
  const [edited, setEdited] = useState<Name | null>(null);
  /** The chip that takes the focus once it is drawn, after its field was closed with a key. */
  const focused = useRef<Name | null>(null);
  return { place, edited, setEdited, focused };
}

type Filters = ReturnType<typeof useFilters>;

/** A button with a menu of the filters that are not set. */
export function AddFilter({ place, edited, setEdited }: Filters) {
  const names = NAMES.filter((name) => place[name] === undefined && name !== edited);
  if (names.length === 0) return null;
  return (
    <MenuButton
      label="Add filter"
      class=""
      actions={names.map((name) => ({ text: LABELS[name], run: () => setEdited(name) }))}
    >
      Add filter
    </MenuButton>
  );
}

export function FilterChips({ place, edited, setEdited, focused }: Filters) {
  const { projectId } = place;
  const names = NAMES.filter((name) => place[name] !== undefined || name === edited);
  if (names.length === 0) return null;
  const apply = (name: Name, value: string) => {
    const text = name === "directory" ? value.trim().replace(/^\/+|\/+$/g, "") : value.trim();
    if (text !== (place[name] ?? "")) goTo({ ...place, before: undefined, [name]: text || undefined });
  };
  return (
    <div class="chips" role="search" aria-label="Filters of the activity">
      {names.map((name) =>
        name === edited
          ? (
            <EditedChip
              key={name}
              {...{ place, name, focused }}
              onApply={(value) => apply(name, value)}
              onDone={() => setEdited(null)}
            />
          )
          : (
            <Chip
              key={name}
              {...{ place, name, focused }}
              onEdit={() => setEdited(name)}
              onRemove={() => {
                focusAddFilter();
                apply(name, "");
              }}
            />
          )
      )}
      {hasFilters(place) && (
        <button
          type="button"
          class="link"
          onClick={() => goTo({ name: "activity", projectId })}
        >
          Clear filters
        </button>
      )}
    </div>
  );
}

/** A chip that is removed leaves the focus to the button that adds one. */
function focusAddFilter(): void {
  document.querySelector<HTMLElement>(".view-head [aria-haspopup]")?.focus();
}

interface ChipProperties {
  readonly place: ActivityPlace;
  readonly name: Name;
  readonly focused: Filters["focused"];
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}

/** `Actor: planner/2.1`, which opens its field, and a button that removes it. */
function Chip({ place, name, focused, onEdit, onRemove }: ChipProperties) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (focused.current !== name) return;
    focused.current = null;
    button.current?.focus();
  }, []);
  return (
    <span class="chip">
      <button ref={button} type="button" class="link" onClick={onEdit}>
        {LABELS[name]}: {shownValue(place, name)}
      </button>
      <IconButton icon="close" label={`Remove the filter ${LABELS[name]}`} onClick={onRemove} />
    </span>
  );
}

function shownValue(place: ActivityPlace, name: Name): string {
  const value = place[name] ?? "";
  if (name === "since" || name === "until") return formatTime(new Date(value).toISOString());
  if (name === "run") return shortenId(value);
  const options = optionsOf(place, name);
  return options?.find(([option]) => option === value)?.[1] ?? visible(value);
}

interface EditedProperties {
  readonly place: ActivityPlace;
  readonly name: Name;
  readonly focused: Filters["focused"];
  readonly onApply: (value: string) => void;
  readonly onDone: () => void;
}

/** A choice takes effect at once, a text on Enter or when the field is left; Escape leaves it as it was. */
function EditedChip({ place, name, focused, onApply, onDone }: EditedProperties) {
  const control = useRef<HTMLInputElement & HTMLSelectElement>(null);
  const id = useId();
  const options = optionsOf(place, name);
  useEffect(() => control.current?.focus(), []);
  const value = place[name] ?? "";
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" && (event.key !== "Enter" || options !== undefined)) return;
    if (event.key === "Escape" && control.current !== null) control.current.value = value;
    // The key must not press the button that takes the focus.
    event.preventDefault();
    if (control.current?.value) focused.current = name;
    focusAddFilter();
  };
  const shared = {
    id,
    ref: control,
    onKeyDown,
    onBlur: () => {
      if (options === undefined) onApply(control.current?.value ?? "");
      onDone();
    },
  };
  return (
    <span class="chip edited">
      <label for={id}>{LABELS[name]}</label>
      {options !== undefined
        ? (
          <select {...shared} value={value} onChange={({ currentTarget }) => onApply(currentTarget.value)}>
            {[["", "All"] as const, ...options].map(([option, text]) => (
              <option key={option} value={option}>{text}</option>
            ))}
          </select>
        )
        : name === "since" || name === "until"
        ? <input {...shared} type="datetime-local" defaultValue={value} />
        : <input {...shared} type="text" defaultValue={value} autoComplete="off" spellcheck={false} />}
    </span>
  );
}

/** Returns what a filter can be chosen from; undefined if it is a text. */
function optionsOf({ projectId, keyId }: ActivityPlace, name: Name): Options | undefined {
  if (name === "operation") return KINDS;
  return name === "keyId" ? keyOptions(projectId, keyId) : undefined;
}

/** Returns the keys to choose from, including the key of the address even if it is unknown. */
function keyOptions(projectId: string, chosen: string | undefined): Options {
  const options = (keysOf(projectId) ?? []).map(({ id, name, prefix }) =>
    [id, name === null || name === "" ? `${prefix}…` : visible(name)] as const
  );
  return chosen === undefined || options.some(([id]) => id === chosen)
    ? options
    : [...options, [chosen, `Key ${chosen.slice(0, 8)}`]];
}
