/// <reference lib="dom" />
/**
 * CodeMirror in a shadow tree, where it uses constructed style sheets: the Content-Security-Policy of the page allows
 * them without 'unsafe-inline'. This module and its imports are loaded when code is first shown.
 */
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { MergeView } from "@codemirror/merge";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension, StateEffect } from "@codemirror/state";
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
import { DIFF_CONTEXT_LINES, DIFF_FOLD_LINES_MIN } from "../limits.ts";
import { appearance } from "./appearance.ts";
import { loadLanguage } from "./languages.ts";
import { lineBreakOf } from "./line_breaks.ts";

export interface Mounted {
  readonly destroy: () => void;
  /** Changes what differs. */
  readonly show?: (text: string) => void;
}

export interface CodeOptions {
  readonly text: string;
  readonly mimeType: string;
  /** Accessible name of the text. */
  readonly label: string;
  /** The line to show, from 1; by default the beginning. */
  readonly line?: number | undefined;
  /** Read-only if missing. */
  readonly onChange?: (text: string) => void;
  readonly onSave?: () => void;
}

export async function mountCode(root: ShadowRoot, options: CodeOptions): Promise<Mounted> {
  const { text, label, onChange, onSave } = options;
  const lineBreak = lineBreakOf(text);
  const save = { key: "Mod-s", preventDefault: true, run: () => (onSave?.(), true) };
  const editing: Extension = onChange === undefined ? reading(label) : [
    history(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    EditorView.contentAttributes.of({ "aria-label": label }),
    keymap.of([save, ...historyKeymap]),
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) onChange(state.sliceDoc());
    }),
  ];
  const language = await loadLanguage(options.mimeType);
  const state = EditorState.create({
    doc: text,
    extensions: [EditorState.lineSeparator.of(lineBreak), common(), editing, language],
  });
  const view = new EditorView({ state, root, parent: place(root) });
  if (onChange !== undefined) view.focus();
  if (options.line !== undefined) showLine(view, options.line);
  return { destroy: () => view.destroy(), show: (text) => replaceText(view, text) };
}

/** Leaves what both begin and end with, so that the view stays where it is. */
function replaceText(view: EditorView, next: string): void {
  const before = view.state.sliceDoc();
  if (before === next) return;
  // Positions count each line break once.
  if (view.state.lineBreak !== "\n") {
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: view.state.toText(next) } });
    return;
  }
  const length = Math.min(before.length, next.length);
  let start = 0;
  while (start < length && before[start] === next[start]) start++;
  let end = 0;
  while (end < length - start && before[before.length - 1 - end] === next[next.length - 1 - end]) end++;
  const insert = view.state.toText(next.slice(start, next.length - end));
  view.dispatch({ changes: { from: start, to: before.length - end, insert } });
}

/** Marks the line and scrolls to it; the last one, if the text has become shorter. */
function showLine(view: EditorView, number: number): void {
  const { doc } = view.state;
  const { from } = doc.line(Math.min(number, doc.lines));
  const mark = Decoration.set(Decoration.line({ class: "cm-shownLine" }).range(from));
  view.dispatch({
    selection: { anchor: from },
    effects: [
      StateEffect.appendConfig.of(EditorView.decorations.of(mark)),
      EditorView.scrollIntoView(from, { y: "center" }),
    ],
  });
}

export interface ComparisonOptions {
  readonly before: string;
  readonly after: string;
  readonly mimeType: string;
  readonly labels: readonly [before: string, after: string];
}

/** Two texts side by side. */
export async function mountComparison(root: ShadowRoot, options: ComparisonOptions): Promise<Mounted> {
  const { before, after, labels, mimeType } = options;
  const language = await loadLanguage(mimeType);
  const side = (doc: string, label: string) => ({ doc, extensions: [common(), reading(label), language] });
  return new MergeView({
    a: side(before, labels[0]),
    b: side(after, labels[1]),
    root,
    parent: place(root),
    collapseUnchanged: { margin: DIFF_CONTEXT_LINES, minSize: DIFF_FOLD_LINES_MIN },
    gutter: true,
  });
}

function common(): Extension {
  return [
    lineNumbers(),
    highlightSpecialChars(),
    drawSelection(),
    highlightSelectionMatches(),
    search({ top: true }),
    keymap.of([...searchKeymap, ...defaultKeymap]),
    appearance,
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

function place(root: ShadowRoot): HTMLElement {
  const element = document.createElement("div");
  root.replaceChildren(element);
  return element;
}
