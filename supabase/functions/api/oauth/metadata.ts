/** What clients discover: the server (RFC 8414, and OpenID Connect Discovery) and the resource (RFC 9728). */

/** What a client may ask for, and the scope of a key that it stands for. */
export const OAUTH_SCOPES = { "files:read": "read", "files:write": "write" } as const;
export type OAuthScope = keyof typeof OAUTH_SCOPES;

const SCOPES = Object.keys(OAUTH_SCOPES);

export interface ServerAddresses {
  /** The address of the service. */
  readonly base: string;
  /** `base`, or the host that an operator named: it serves the same document. */
  readonly issuer: string;
}

/** `documents`: whether this runtime can fetch Client ID Metadata Documents. */
export function serverMetadata({ base, issuer }: ServerAddresses, documents: boolean) {
  return {
    issuer,
    authorization_endpoint: `${base}/oauth/authorize`,
    token_endpoint: `${base}/oauth/token`,
    registration_endpoint: `${base}/oauth/register`,
    revocation_endpoint: `${base}/oauth/revoke`,
    scopes_supported: SCOPES,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    token_endpoint_auth_methods_supported: ["none"],
    revocation_endpoint_auth_methods_supported: ["none"],
    code_challenge_methods_supported: ["S256"],
    client_id_metadata_document_supported: documents,
    authorization_response_iss_parameter_supported: true,
    // There are no identity tokens: an official client refuses a document of OpenID without these three.
    jwks_uri: `${base}/oauth/jwks`,
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
  };
}

/** `resource`: the address of `/connect` as it was called. */
export function resourceMetadata({ issuer }: ServerAddresses, resource: string) {
  return {
    resource,
    authorization_servers: [issuer],
    scopes_supported: SCOPES,
    bearer_methods_supported: ["header"],
  };
}

/** The header of a 401 at `/connect`; `fault`: what is wrong with the token that was sent. */
export function challenge(base: string, fault?: "invalid_token"): string {
  const error = fault === undefined ? "" : `error="${fault}", `;
  const document = `${base}/connect/oauth-protected-resource`;
  return `Bearer ${error}resource_metadata="${document}", scope="${SCOPES.join(" ")}"`;
}
