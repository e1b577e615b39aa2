/** Characters that nobody sees, in what a person or a model reads: a name could hide a message, or look like another. */

/** Controls and formats (joiners, tags, marks of direction), what is drawn as nothing, and separators of lines. */
const HIDDEN = String.raw`[\p{Cc}\p{Cf}\p{DI}\p{Zl}\p{Zp}\u2800]`;
const HAS_HIDDEN = new RegExp(HIDDEN, "u");

/** Made when it is first needed, since that takes milliseconds. */
let emojiOrHidden: RegExp | undefined;

/**
 * The text with hidden characters as JSON can write them, `\u200b`: within JSON it stays the same JSON. Those of an emoji
 * stay as they are: Unicode's list of emoji is closed, so they carry nothing else.
 */
export function escapeHidden(text: string): string {
  if (!HAS_HIDDEN.test(text)) return text;
  emojiOrHidden ??= new RegExp(String.raw`(\p{RGI_Emoji})|${HIDDEN}`, "gv");
  return text.replace(
    emojiOrHidden,
    (found, emoji?: string) => emoji ?? escapeUnits(found),
  );
}

/** The text with the escapes of `escapeHidden` undone, and no others. For texts that cannot have a backslash themselves. */
export function unescapeHidden(text: string): string {
  return text.replace(/(?:\\u[\da-f]{4})+/gi, (escapes) => {
    const units = escapes.slice(2).split(/\\u/i).map((digits) => parseInt(digits, 16));
    const meant = String.fromCharCode(...units);
    return escapeHidden(meant) === escapes.toLowerCase() ? meant : escapes;
  });
}

function escapeUnits(character: string): string {
  return Array.from(
    { length: character.length },
    (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, "0")}`,
  ).join("");
}
