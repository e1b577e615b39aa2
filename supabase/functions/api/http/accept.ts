/** Which representation of a file a client asks for: RFC 9110, section 12.5.1. */

/**
 * Whether it is the bytes themselves: `application/octet-stream` by name, with a quality above that of JSON. A client
 * that takes either gets JSON, as every client does that says nothing.
 */
export function wantsRaw(accept: string | null): boolean {
  return qualityOf(accept, "application/octet-stream") > qualityOf(accept, "application/json");
}

/** The quality given to a type by its full name: 0 to 1, 0 where it is not named. */
function qualityOf(accept: string | null, wanted: string): number {
  const qualities = (accept ?? "").toLowerCase().split(",").map((member) => {
    const [type, ...parameters] = member.split(";").map((part) => part.trim());
    if (type !== wanted) return 0;
    const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    return quality !== undefined && Number(quality) < 1 ? Number(quality) : 1;
  });
  return Math.max(...qualities);
}
