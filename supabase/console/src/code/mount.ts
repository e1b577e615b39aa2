/**
 * CodeMirror in a shadow tree, where it uses constructed style sheets: the Content-Security-Policy of the page allows
 * them without 'unsafe-inline'. This module and its imports are loaded when code is first shown.
 */
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { MergeView } from "@codemirror/merge";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { codeFolding, foldGutter, foldKeymap } from "@codemirror/language";
import { Compartment, EditorState, type Extension, type Text } from "@codemirror/state";
import {
  Decoration,
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { SHORTCUTS } from "../components/shortcut_table.ts";
import { DIFF_CONTEXT_LINES, DIFF_FOLD_LINES_MIN, MARKED_LINES_MAX } from "../limits.ts";
import { appearance } from "./appearance.ts";
import { loadLanguage } from "./languages.ts";

export interface Mounted {
  readonly destroy: () => void;
  /** Applies changed options to a read-only view. */
  readonly update?: (options: CodeOptions) => void;
}

export interface CodeOptions {
  /** An editor only starts with this text; a read-only view follows it. */
  readonly text: string;
  readonly mimeType: string;
  readonly label: string;
  /** The line to show and mark; by default the beginning. A number beyond the text means the last line. */
  readonly line?: number | undefined;
  /** The last line to mark, if several are marked. */
  readonly lastLine?: number | undefined;
  /** Number of the first line, if the text is a part of a file; by default 1. */
  readonly firstLine?: number | undefined;
  /** A new number scrolls to the line again. */
  readonly goes?: number | undefined;
  /** Starts at the end if `line` is not given. */
  readonly startsAtEnd?: boolean | undefined;
  readonly wraps?: boolean | undefined;
  /** Called with the number of the clicked line, and whether Shift was pressed: then it is the other end of a range. */
  readonly onLine?: ((line: number, isOtherEnd: boolean) => void) | undefined;
  /** The view is read-only without it. */
  readonly onChange?: (text: string) => void;
  readonly onSave?: () => void;
}

export async function mountCode(root: ShadowRoot, options: CodeOptions): Promise<Mounted> {
  const { text, label, onChange, onSave } = options;
  const lineBreak = lineBreakOf(text);
  const save = { key: SHORTCUTS.save.keys[0], preventDefault: true, run: () => (onSave?.(), true) };
  const kind: Extension = onChange === undefined
    ? reading(label)
    : [keymap.of([save, ...historyKeymap]), editing(label, onChange)];
  const language = await loadLanguage(options.mimeType);
  const parts = { numbers: new Compartment(), wrapping: new Compartment(), mark: new Compartment() };
  const state = EditorState.create({
    doc: text,
    extensions: [
      EditorState.lineSeparator.of(lineBreak),
      parts.numbers.of(numbers(options)),
      parts.wrapping.of(wrapping(options)),
      parts.mark.of([]),
      common(),
      kind,
      language ?? [],
      language === null || onChange !== undefined ? [] : [codeFolding(), foldGutter(), keymap.of(foldKeymap)],
    ],
  });
  const parent = place(root);
  const view = new EditorView({ state, root, parent });
  if (onChange !== undefined) view.focus();
  show(view, parts.mark, options);
  let shown = options;
  return {
    destroy: () => leave(view, parent),
    update: (next) => {
      const before = shown;
      shown = next;
      if (next.wraps !== before.wraps) {
        view.dispatch({ effects: parts.wrapping.reconfigure(wrapping(next)) });
      }
      if (next.text !== before.text || next.firstLine !== before.firstLine) {
        view.dispatch({
          changes: changeOf(view.state.doc, before.text, next.text),
          effects: parts.numbers.reconfigure(numbers(next)),
        });
        if (next.line === before.line) keepInView(view, before, next);
      }
      const isElsewhere = next.line !== before.line || next.lastLine !== before.lastLine;
      if (isElsewhere || next.goes !== before.goes) show(view, parts.mark, next);
    },
  };
}

function numbers({ firstLine = 1, onLine }: CodeOptions): Extension {
  return lineNumbers({
    formatNumber: (line) => String(line + firstLine - 1),
    domEventHandlers: onLine === undefined ? {} : {
      click: (view, { from }, event) => {
        const isOtherEnd = event instanceof MouseEvent && event.shiftKey;
        onLine(view.state.doc.lineAt(from).number + firstLine - 1, isOtherEnd);
        return true;
      },
    },
  });
}

function wrapping({ wraps = false }: CodeOptions): Extension {
  return wraps ? EditorView.lineWrapping : [];
}

/** Keeps the common beginning and end of both texts, so that nothing else moves. */
function changeOf(
  { length }: Text,
  before: string,
  after: string,
): { from: number; to?: number; insert: string } {
  if (after.endsWith(before)) return { from: 0, insert: after.slice(0, after.length - before.length) };
  if (after.startsWith(before)) return { from: length, insert: after.slice(before.length) };
  // CodeMirror counts each line break as one position, also CR LF.
  if (before.length !== length) return { from: 0, to: length, insert: after };
  const shorter = Math.min(length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before[length - 1 - end] === after[after.length - 1 - end]) end++;
  return { from: start, to: length - end, insert: after.slice(start, after.length - end) };
}

/** After earlier lines were added above, keeps the former first line in place. */
function keepInView(view: EditorView, { firstLine: before = 1 }: CodeOptions, next: CodeOptions): void {
  const { firstLine = 1 } = next;
  const { doc } = view.state;
  const added = before - firstLine;
  if (added <= 0 || added >= doc.lines) return;
  view.dispatch({ effects: EditorView.scrollIntoView(doc.line(added + 1).from, { y: "start" }) });
}

/** Marks the lines and scrolls to the first. */
function show(view: EditorView, marks: Compartment, options: CodeOptions): void {
  const { line: number, lastLine, firstLine = 1, startsAtEnd = false } = options;
  const { doc } = view.state;
  if (number === undefined) {
    const end = EditorView.scrollIntoView(doc.length, { y: "end" });
    view.dispatch({ effects: [marks.reconfigure([]), ...startsAtEnd ? [end] : []] });
    return;
  }
  const within = (line: number) => Math.min(Math.max(1, line - firstLine + 1), doc.lines);
  const start = within(number);
  const { from } = doc.line(start);
  const count = Math.min(within(lastLine ?? number) - start + 1, MARKED_LINES_MAX);
  const mark = Decoration.line({ class: "cm-shownLine" });
  const marked = Decoration.set(
    Array.from({ length: count }, (_, index) => mark.range(doc.line(start + index).from)),
  );
  view.dispatch({
    selection: { anchor: from },
    effects: [
      marks.reconfigure(EditorView.decorations.of(marked)),
      EditorView.scrollIntoView(from, { y: "center" }),
    ],
  });
}

export interface ComparisonOptions {
  readonly before: string;
  readonly after: string;
  readonly mimeType: string;
  readonly labels: readonly [before: string, after: string];
  /** With it, the text on the right can be edited. */
  readonly onChange?: ((text: string) => void) | undefined;
}

export async function mountComparison(root: ShadowRoot, options: ComparisonOptions): Promise<Mounted> {
  const { before, after, labels, mimeType, onChange } = options;
  const language = await loadLanguage(mimeType);
  const side = (doc: string, kind: Extension) => ({
    doc,
    extensions: [lineNumbers(), common(), kind, language ?? []],
  });
  const editable = onChange && [
    EditorState.lineSeparator.of(lineBreakOf(after)),
    keymap.of(historyKeymap),
    editing(labels[1], onChange),
  ];
  const parent = place(root);
  const view = new MergeView({
    a: side(before, reading(labels[0])),
    b: side(after, editable ?? reading(labels[1])),
    root,
    parent,
    collapseUnchanged: { margin: DIFF_CONTEXT_LINES, minSize: DIFF_FOLD_LINES_MIN },
    gutter: true,
  });
  return { destroy: () => leave(view, parent) };
}

function common(): Extension {
  return [
    highlightSpecialChars(),
    drawSelection(),
    highlightSelectionMatches(),
    search({ top: true }),
    // The surrounding view has its own field to go to a line.
    keymap.of([...searchKeymap.filter(({ key }) => key !== "Mod-g"), ...defaultKeymap]),
    appearance,
  ];
}

function editing(label: string, onChange: (text: string) => void): Extension {
  return [
    history(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    EditorView.contentAttributes.of({ "aria-label": label }),
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) onChange(state.sliceDoc());
    }),
  ];
}

/** Not editable, but focusable with the keyboard, for scrolling and copying. */
function reading(label: string): Extension {
  return [
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.contentAttributes.of({ tabindex: "0", "aria-label": label, "aria-readonly": "true" }),
  ];
}

/** Each view has its own element: one that is replaced while it loads may be mounted after its successor. */
function place(root: ShadowRoot): HTMLElement {
  const element = document.createElement("div");
  root.append(element);
  return element;
}

function leave(view: EditorView | MergeView, element: HTMLElement): void {
  view.destroy();
  element.remove();
}

/** Returns the line break of a text, so that a save changes no other line. */
function lineBreakOf(text: string): "\r\n" | "\n" {
  const breaks = text.match(/\r\n|\r|\n/g) ?? [];
  // In a text with mixed line breaks, a carriage return is an ordinary character.
  return breaks.length > 0 && breaks.every((one) => one === "\r\n") ? "\r\n" : "\n";
}
