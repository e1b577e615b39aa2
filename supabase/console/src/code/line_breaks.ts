/** Which line break separates a text's lines, so that saving it changes none of the others. */
export function lineBreakOf(text: string): "\r\n" | "\n" {
  const breaks = text.match(/\r\n|\r|\n/g) ?? [];
  // Where they are mixed, a carriage return is a character like any other.
  return breaks.length > 0 && breaks.every((one) => one === "\r\n") ? "\r\n" : "\n";
}
