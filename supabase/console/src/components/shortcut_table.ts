/**
 * All shortcuts: handlers call `isPressed`, and the list of shortcuts shows the same rows. Keys are written as in
 * CodeMirror; `Mod` is Cmd on a Mac and Ctrl elsewhere.
 */

interface Shortcut {
  readonly where: (typeof PLACES)[number];
  /** Any of these keys triggers the shortcut. */
  readonly keys: readonly [string, ...string[]];
  readonly text: string;
}

/** In the order in which the list shows them. */
export const PLACES = ["Everywhere", "Lists", "Texts and tables", "Trees", "Editor"] as const;

const TABLE = {
  palette: { where: "Everywhere", keys: ["Mod-k"], text: "Find files, folders, runs, keys and actions" },
  filter: { where: "Everywhere", keys: ["/"], text: "Go to the filter of the view, or to the search" },
  shortcuts: { where: "Everywhere", keys: ["?"], text: "Show the shortcuts" },
  close: { where: "Everywhere", keys: ["Escape"], text: "Close a dialog or a menu" },
  next: { where: "Lists", keys: ["ArrowDown"], text: "Next row" },
  previous: { where: "Lists", keys: ["ArrowUp"], text: "Previous row" },
  first: { where: "Lists", keys: ["Home"], text: "First row" },
  last: { where: "Lists", keys: ["End"], text: "Last row" },
  open: { where: "Lists", keys: ["Enter"], text: "Open" },
  choose: {
    where: "Lists",
    keys: ["Space", "Shift-Space"],
    text: "Select the row; with Shift, all rows up to it",
  },
  extendDown: { where: "Lists", keys: ["Shift-ArrowDown"], text: "Extend the selection down" },
  extendUp: { where: "Lists", keys: ["Shift-ArrowUp"], text: "Extend the selection up" },
  chooseAll: { where: "Lists", keys: ["Mod-a"], text: "Select all" },
  chooseNone: { where: "Lists", keys: ["Escape"], text: "Clear the selection" },
  remove: { where: "Lists", keys: ["Delete"], text: "Delete" },
  goTo: { where: "Texts and tables", keys: ["Ctrl-g"], text: "Go to a line or a row" },
  unfold: { where: "Trees", keys: ["ArrowRight"], text: "Unfold, or go to the first entry" },
  fold: { where: "Trees", keys: ["ArrowLeft"], text: "Fold, or go to the parent" },
  pageDown: { where: "Trees", keys: ["PageDown"], text: "A page down" },
  pageUp: { where: "Trees", keys: ["PageUp"], text: "A page up" },
  save: { where: "Editor", keys: ["Mod-s"], text: "Save" },
  searchText: { where: "Editor", keys: ["Mod-f"], text: "Search in the text" },
} as const satisfies Readonly<Record<string, Shortcut>>;

type ShortcutName = keyof typeof TABLE;

export const SHORTCUTS: Readonly<Record<ShortcutName, Shortcut>> = TABLE;

const MODIFIERS = ["Mod", "Ctrl", "Shift"];

/** Returns whether the event is one of the shortcut's keys, with its modifiers and no others. */
export function isPressed(event: KeyboardEvent, name: ShortcutName): boolean {
  return SHORTCUTS[name].keys.some((keys) => {
    const { key, modifiers } = partsOf(keys);
    if (event.altKey) return false;
    const pressed = event.key === " " ? "Space" : event.key;
    // Shift is ignored for signs: a question mark needs it on some keyboard layouts only.
    const isSign = key.length === 1 && !/[a-z]/.test(key);
    if (!isSign && event.shiftKey !== modifiers.includes("Shift")) return false;
    if ((key.length === 1 ? pressed.toLowerCase() : pressed) !== key) return false;
    const needsMeta = modifiers.includes("Mod") && isMac();
    const needsCtrl = modifiers.includes("Ctrl") || (modifiers.includes("Mod") && !isMac());
    return event.metaKey === needsMeta && event.ctrlKey === needsCtrl;
  });
}

/** Returns the labels of the keys, such as `["Ctrl", "K"]`. */
export function keyNames(keys: string): readonly string[] {
  const { key, modifiers } = partsOf(keys);
  const names = modifiers.map((one) => one === "Mod" ? (isMac() ? "⌘" : "Ctrl") : one);
  return [...names, NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key)];
}

const NAMES: Readonly<Record<string, string>> = {
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  Escape: "Esc",
  PageDown: "Page Down",
  PageUp: "Page Up",
};

function partsOf(keys: string): { readonly key: string; readonly modifiers: readonly string[] } {
  const parts = keys.split("-");
  return { key: parts.at(-1) ?? "", modifiers: parts.filter((one) => MODIFIERS.includes(one)) };
}

function isMac(): boolean {
  return /mac|iphone|ipad/i.test(globalThis.navigator?.platform ?? "");
}
