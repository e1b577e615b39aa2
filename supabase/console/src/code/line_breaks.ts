/** Returns the line break of a text, so that saving it changes no other line. */
export function lineBreakOf(text: string): "\r\n" | "\n" {
  const breaks = text.match(/\r\n|\r|\n/g) ?? [];
  // In a text with mixed line breaks, a carriage return is an ordinary character.
  return breaks.length > 0 && breaks.every((one) => one === "\r\n") ? "\r\n" : "\n";
}
