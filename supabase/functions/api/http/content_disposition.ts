/** Content-Disposition (RFC 6266): the name under which a browser saves a file. */

/** The header for the file at a path: its name, and an approximation where the name is not plain ASCII. */
export function attachment(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const plain = name.replaceAll(/[^ -~]/gu, "_").replaceAll(/["\\%]/g, "_");
  if (plain === name) return `attachment; filename="${name}"`;
  const escape = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  // RFC 8187 does not allow these characters, though encodeURIComponent leaves them.
  const encoded = encodeURIComponent(name).replaceAll(/['()*!]/g, escape);
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
