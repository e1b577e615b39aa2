/** Invisible characters in text for people and models: a name could hide a message, or look like another name. */

/** Control and format characters (joiners, tags, direction marks), other characters without a glyph, line separators. */
const HIDDEN = String.raw`[\p{Cc}\p{Cf}\p{DI}\p{Zl}\p{Zp}\u2800]`;
const HAS_HIDDEN = new RegExp(HIDDEN, "u");

/** Compiled when it is first needed, since that takes milliseconds. */
let emojiOrHidden: RegExp | undefined;

/**
 * Replaces hidden characters with JSON escapes such as `\u200b`, so that JSON text keeps its meaning. Hidden characters
 * within an emoji stay: Unicode's list of emoji is closed, so they cannot carry a message.
 */
export function escapeHidden(text: string): string {
  if (!HAS_HIDDEN.test(text)) return text;
  emojiOrHidden ??= new RegExp(String.raw`(\p{RGI_Emoji})|${HIDDEN}`, "gv");
  return text.replace(
    emojiOrHidden,
    (found, emoji?: string) => emoji ?? found.replaceAll(/[^]/g, escapeUnit),
  );
}

/** The text without hidden characters, even those of an emoji: for names that are compared by eye. */
export function withoutHidden(text: string): string {
  return text.replaceAll(new RegExp(HIDDEN, "gu"), "");
}

/** Undoes `escapeHidden`, and no other escapes. For texts that cannot contain a backslash of their own. */
export function unescapeHidden(text: string): string {
  return text.replace(/(?:\\u[\da-f]{4})+/gi, (escapes) => {
    const units = escapes.slice(2).split(/\\u/i).map((digits) => parseInt(digits, 16));
    const meant = String.fromCharCode(...units);
    return escapeHidden(meant) === escapes.toLowerCase() ? meant : escapes;
  });
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
