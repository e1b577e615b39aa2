/** Creates a link. Only the caller gets its address. */
import type { Gate } from "../auth/gate.ts";
import { generateLinkToken, hashLinkToken } from "../auth/link_token.ts";
import { serverUrl } from "../http/server_url.ts";
import type { CreatedLink, Link } from "../contract/links.ts";
import type { Metadata, NewLink } from "../ports/metadata.ts";

interface LinkContext {
  readonly gate: Gate;
  readonly metadata: Pick<Metadata, "createLink">;
  readonly request: Request;
}

/** Throws FORBIDDEN_SCOPE, FILE_NOT_FOUND, VERSION_NOT_FOUND and LINK_LIMIT_REACHED. */
export async function issueLink(
  { gate, metadata, request }: LinkContext,
  wanted: Omit<NewLink, "id" | "tokenHash">,
): Promise<CreatedLink> {
  const token = generateLinkToken();
  const created = { ...wanted, id: crypto.randomUUID(), tokenHash: await hashLinkToken(token) };
  const link = gate.unwrap(await metadata.createLink(gate.caller, created));
  const url = `${serverUrl(request)}/l/${token}`;
  const { id, path, expiresAt } = link;
  const method = link.for === "read" ? "GET" : "PUT";
  return { id, url, method, path, expiresAt, curl: curlCommand(link, url) };
}

function curlCommand({ for: scope, path }: Pick<Link, "for" | "path">, url: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const quoted = `'${name.replaceAll("'", `'\\''`)}'`;
  return `curl -fsS ${scope === "read" ? "-o" : "-T"} ${quoted} '${url}'`;
}
