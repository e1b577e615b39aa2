/** Styles of the code view. Custom properties carry the page's colours into the shadow tree. */
import { syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { colours } from "./colours.ts";

const frame = EditorView.theme({
  "&": { fontSize: "13px", backgroundColor: "var(--surface)", color: "var(--text)" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "-2px" },
  ".cm-content": { caretColor: "var(--text)", padding: "8px 0" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": {
    backgroundColor: "var(--surface-sunken)",
    color: "var(--text-muted)",
    borderRight: "1px solid var(--line)",
  },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--code-line)" },
  ".cm-shownLine": { backgroundColor: "var(--code-match)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--code-selection)",
  },
  ".cm-content ::selection": { backgroundColor: "var(--code-selection)" },
  ".cm-panels": { backgroundColor: "var(--surface-sunken)", color: "var(--text)" },
  ".cm-textfield, .cm-button": {
    backgroundColor: "var(--surface)",
    backgroundImage: "none",
    color: "var(--text)",
    border: "1px solid var(--line-strong)",
  },
  ".cm-searchMatch": { backgroundColor: "var(--code-match)" },
  ".cm-changedText": { background: "var(--diff-strong)" },
  "&.cm-merge-a .cm-changedLine": { backgroundColor: "var(--diff-removed)" },
  "&.cm-merge-b .cm-changedLine": { backgroundColor: "var(--diff-added)" },
  "&.cm-merge-a .cm-changedText": { background: "var(--diff-removed-strong)" },
  "&.cm-merge-b .cm-changedText": { background: "var(--diff-added-strong)" },
  ".cm-collapsedLines": {
    background: "var(--surface-sunken)",
    color: "var(--text-muted)",
    padding: "4px 12px",
  },
});

export const appearance = [frame, syntaxHighlighting(colours)];
