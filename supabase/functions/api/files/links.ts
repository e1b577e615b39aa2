/** Creates a link. Only the caller gets its address. */
import type { Gate } from "../auth/gate.ts";
import { generateLinkToken, hashLinkToken } from "../auth/link_token.ts";
import { serverUrl } from "../http/server_url.ts";
import type { Link, NewLink } from "../ports/links.ts";
import type { Metadata } from "../ports/metadata.ts";

interface LinkContext {
  readonly gate: Gate;
  readonly metadata: Pick<Metadata, "createLink">;
  readonly request: Request;
}

/** The link as its creator sees it. */
export interface IssuedLink {
  readonly id: string;
  /** The address, which the service does not store. */
  readonly url: string;
  readonly method: "GET" | "PUT";
  readonly path: string;
  readonly expiresAt: string;
  /** A command that downloads the file, or uploads one of the same name, from the current directory. */
  readonly curl: string;
}

/** Throws FORBIDDEN_SCOPE, FILE_NOT_FOUND, VERSION_NOT_FOUND and LINK_LIMIT_REACHED. */
export async function issueLink(
  { gate, metadata, request }: LinkContext,
  wanted: Omit<NewLink, "id" | "tokenHash">,
): Promise<IssuedLink> {
  const token = generateLinkToken();
  const created = { ...wanted, id: crypto.randomUUID(), tokenHash: await hashLinkToken(token) };
  const link = gate.unwrap(await metadata.createLink(gate.caller, created));
  const url = `${serverUrl(request)}/l/${token}`;
  const { id, path, expiresAt } = link;
  return {
    id,
    url,
    method: link.for === "read" ? "GET" : "PUT",
    path,
    expiresAt,
    curl: curlCommand(link, url),
  };
}

function curlCommand({ for: scope, path }: Pick<Link, "for" | "path">, url: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const quoted = `'${name.replaceAll("'", `'\\''`)}'`;
  return `curl -fsS ${scope === "read" ? "-o" : "-T"} ${quoted} '${url}'`;
}
