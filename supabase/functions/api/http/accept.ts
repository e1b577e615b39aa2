/** Which representation of a file a client accepts: RFC 9110, section 12.5.1. */

/**
 * Whether the client wants the bytes themselves: `application/octet-stream` by name, with a quality above that of JSON. A
 * client that accepts either gets JSON, as does one without an Accept header.
 */
export function wantsRaw(accept: string | null): boolean {
  return qualityOf(accept, "application/octet-stream") > qualityOf(accept, "application/json");
}

/** The quality of a type that is listed by its full name: 0 to 1, 0 if it is not listed. */
function qualityOf(accept: string | null, wanted: string): number {
  const qualities = (accept ?? "").toLowerCase().split(",").map((member) => {
    const [type, ...parameters] = member.split(";").map((part) => part.trim());
    if (type !== wanted) return 0;
    const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    return quality !== undefined && Number(quality) < 1 ? Number(quality) : 1;
  });
  return Math.max(...qualities);
}
