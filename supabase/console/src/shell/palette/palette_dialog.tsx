/** A combobox with its list: the focus stays in the field, arrows move in the list, and Enter runs the active entry. */
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { useModal } from "../../components/dialog.tsx";
import { Icon, IconButton } from "../../components/icon.tsx";
import { isPressed } from "../../components/shortcut_table.ts";
import { visible } from "../../format.ts";
import { PALETTE_SHOWN_MAX } from "../../limits.ts";
import type { Entry, Group } from "./groups.ts";

interface Properties {
  readonly query: string;
  readonly groups: readonly Group[];
  readonly status: string;
  readonly onInput: (query: string) => void;
  readonly onClose: () => void;
}

export function PaletteDialog({ query, groups, status, onInput, onClose }: Properties) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const [chosen, choose] = useState<string | null>(null);
  const entries = groups.flatMap(({ entries }) => entries);
  // The first entry is active until another is chosen; entries that load later do not change the choice.
  const active = Math.max(0, entries.findIndex((entry) => entry.id === chosen));
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [active, query]);
  const run = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    onClose();
    // Closing returns the focus first, so that what the entry opens remembers it.
    setTimeout(entry.run);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // During the composition of a character, Enter only ends the composition.
    if (event.isComposing) return;
    if (isPressed(event, "open")) run(entries[active]);
    else if (isPressed(event, "palette")) onClose();
    else {
      const next = nextIndex(event, active, entries.length);
      if (next === null) return;
      choose(entries[next]?.id ?? null);
    }
    event.preventDefault();
  };
  return (
    <dialog
      {...useModal(onClose)}
      class="dialog palette"
      aria-label="Commands"
      onClick={({ target, currentTarget }) => target === currentTarget && onClose()}
    >
      <div class="palette-field">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label="Find files, folders, runs, keys and actions"
          aria-expanded={entries.length > 0}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={entries.length === 0 ? undefined : `${id}-${active}`}
          placeholder="Find files, folders, runs, keys and actions"
          autoComplete="off"
          autoCapitalize="off"
          spellcheck={false}
          autoFocus
          value={query}
          onInput={({ currentTarget }) => {
            choose(null);
            onInput(currentTarget.value);
          }}
          onKeyDown={onKeyDown}
        />
        <IconButton icon="close" label="Close" onClick={onClose} />
      </div>
      <div ref={list} id={`${id}-list`} class="palette-list" role="listbox" aria-label="What was found">
        {groups.map(({ title, entries: own }) => (
          <div key={title} role="group" aria-labelledby={`${id}-${title}`}>
            <p id={`${id}-${title}`} class="palette-title" role="presentation">{title}</p>
            {own.map((entry) => {
              const index = entries.indexOf(entry);
              return (
                <Option
                  key={entry.id}
                  {...{ entry }}
                  id={`${id}-${index}`}
                  isActive={index === active}
                  onChoose={() => run(entry)}
                />
              );
            })}
          </div>
        ))}
      </div>
      <p class="hint" role="status">{status}</p>
    </dialog>
  );
}

interface OptionProperties {
  readonly entry: Entry;
  readonly id: string;
  readonly isActive: boolean;
  readonly onChoose: () => void;
}

function Option({ entry: { text, about, icon }, id, isActive, onChoose }: OptionProperties) {
  return (
    <div
      id={id}
      class="palette-option"
      role="option"
      aria-selected={isActive}
      // Keeps the focus in the field.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
    >
      <Icon name={icon} />
      <span class="palette-text">{visible(text)}</span>
      {about && <span class="palette-about">{visible(about)}</span>}
    </div>
  );
}

/** Home and End move the cursor in the field, not in the list. */
function nextIndex(event: KeyboardEvent, index: number, count: number): number | null {
  if (count === 0) return null;
  if (isPressed(event, "next")) return (index + 1) % count;
  if (isPressed(event, "previous")) return (index - 1 + count) % count;
  if (isPressed(event, "pageDown")) return Math.min(index + PALETTE_SHOWN_MAX, count - 1);
  if (isPressed(event, "pageUp")) return Math.max(index - PALETTE_SHOWN_MAX, 0);
  return null;
}
