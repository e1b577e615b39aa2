/** Chooses the representation of a file that a client accepts: RFC 9110, section 12.5.1. */

/**
 * Whether the client wants the raw bytes: it names `application/octet-stream`, with a higher quality than JSON. A
 * client that accepts both equally gets JSON, as does one without an Accept header.
 */
export function wantsRaw(accept: string | null): boolean {
  return qualityOf(accept, "application/octet-stream") > qualityOf(accept, "application/json");
}

/** The quality of a type that the header lists by its full name, 0 to 1; 0 if it does not. */
function qualityOf(accept: string | null, wanted: string): number {
  const qualities = (accept ?? "").toLowerCase().split(",").map((member) => {
    const [type, ...parameters] = member.split(";").map((part) => part.trim());
    if (type !== wanted) return 0;
    const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    return quality !== undefined && Number(quality) < 1 ? Number(quality) : 1;
  });
  return Math.max(...qualities);
}
