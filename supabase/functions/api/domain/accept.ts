/** Whether a client asks for the bytes themselves: `Accept: application/octet-stream`, with a quality above 0. */
export function wantsRaw(accept: string | null): boolean {
  return (accept ?? "").toLowerCase().split(",").some((member) => {
    const [type = "", ...parameters] = member.split(";").map((part) => part.trim());
    const quality = parameters.find((parameter) => parameter.startsWith("q="));
    return type === "application/octet-stream" && !(quality && Number(quality.slice(2)) === 0);
  });
}
