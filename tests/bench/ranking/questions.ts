/**
 * Questions that were not written for this service: headings of published documents. The documents with the heading are
 * the right answers. The documents are searched without any of their headings.
 */
import { createHash } from "node:crypto";
import type { Documentation } from "../../support/content/package_docs.ts";

export interface Question {
  readonly q: string;
  /** Paths of the documents that had this heading. */
  readonly answers: readonly string[];
  /** Chosen by a hash of the question. Tuning may use only the figures of the first half. */
  readonly half: "tuning" | "unseen";
}

export interface LabelledSet {
  readonly documents: readonly Documentation[];
  readonly questions: readonly Question[];
}

/** Characters of each document that are searched, so that embedding takes only minutes. Questions come from this part. */
const TEXT_LENGTH_MAX = 3_600;
/** A heading with fewer words is too vague, and one that more documents have is generic. */
const WORDS_MIN = 3;
const ANSWERS_MAX = 2;
/** Questions from one document. */
const QUESTIONS_MAX = 1;

/** Headings that occur in documents on any subject; the number of documents with them does not reveal that. */
const GENERIC =
  /^(see also|table of contents|how (to use|it works)|getting started|next steps|what('s| is) next|when not to use)/i;

/** The documents without headings, and at most one question from each, chosen by a hash. */
export function labelledSet(all: readonly Documentation[]): LabelledSet {
  const documents: Documentation[] = [];
  const holders = new Map<string, { q: string; paths: Set<string> }>();
  for (const { path, text } of all) {
    const { body, headings } = withoutHeadings(text.slice(0, TEXT_LENGTH_MAX));
    if (body.trim() === "") continue;
    documents.push({ path, text: body });
    for (const q of headings) {
      const holder = holders.get(q.toLowerCase()) ?? { q, paths: new Set() };
      holders.set(q.toLowerCase(), holder);
      holder.paths.add(path);
    }
  }
  const taken = new Map<string, number>();
  const questions: Question[] = [];
  const usable = [...holders.values()].filter(({ q, paths }) =>
    paths.size <= ANSWERS_MAX && wordsOf(q) >= WORDS_MIN && !GENERIC.test(q)
  );
  for (const { q, paths } of usable.sort((a, b) => (hashOf(a.q) < hashOf(b.q) ? -1 : 1))) {
    const answers = [...paths];
    if (answers.some((path) => (taken.get(path) ?? 0) >= QUESTIONS_MAX)) continue;
    for (const path of answers) taken.set(path, (taken.get(path) ?? 0) + 1);
    questions.push({ q, answers, half: parseInt(hashOf(q).slice(-1), 16) % 2 === 0 ? "tuning" : "unseen" });
  }
  return { documents, questions };
}

/** A Markdown text without its headings, the titles in its front matter, and its table of contents. */
export function withoutHeadings(text: string): { body: string; headings: string[] } {
  const headings: string[] = [];
  const body: string[] = [];
  let fence = "";
  const lines = text.replaceAll("\r", "").split("\n");
  const frontMatterEnd = lines[0] === "---" ? lines.indexOf("---", 1) : -1;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1] ?? "";
    if (fence === "" ? mark !== "" : mark.startsWith(fence)) fence = fence === "" ? mark : "";
    const title = at < frontMatterEnd ? /^title:\s*(.*)$/.exec(line) : null;
    const heading = fence === "" && mark === "" ? title ?? /^#{1,6}\s+(.*)$/.exec(line) : null;
    const isUnderlined = fence === "" && /^(=+|-+)\s*$/.test(lines[at + 1] ?? "") && /^[A-Za-z]/.test(line) &&
      (lines[at - 1] ?? "").trim() === "" && at > frontMatterEnd;
    if (heading) headings.push(plain(heading[1] ?? ""));
    else if (isUnderlined) headings.push(plain(lines[at++] === undefined ? "" : line));
    else if (!/^\s*(?:[-*+]|\d+\.)\s+\[[^\]]*\]\(#[^)]*\)\s*$/.test(line)) body.push(line);
  }
  return { body: body.join("\n"), headings: headings.filter((heading) => heading !== "") };
}

/** A heading as a person would ask it, without the characters of Markdown, which also have a meaning in a search. */
function plain(heading: string): string {
  return heading
    .replace(/\s#+\s*$/, "")
    .replaceAll(/<[^>]*>|\{#[^}]*\}/g, " ")
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[`*"'\\[\]()|:]/g, " ")
    .replaceAll(/(^|\s)[-–—_]+/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
}

function wordsOf(text: string): number {
  return text.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 1).length;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
