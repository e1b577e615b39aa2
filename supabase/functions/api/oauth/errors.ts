/** Errors of OAuth's routes, in the shape of RFC 6749 section 5.2 and RFC 7591 section 3.2.2, not in the envelope. */

export type OAuthErrorCode =
  | "access_denied"
  | "invalid_client"
  | "invalid_client_metadata"
  | "invalid_grant"
  | "invalid_redirect_uri"
  | "invalid_request"
  | "invalid_scope"
  | "invalid_target"
  | "temporarily_unavailable"
  | "unsupported_grant_type"
  | "unsupported_response_type";

/** Thrown anywhere below OAuth's routes, which render it, or send it to a verified redirect URI. */
export class OAuthError extends Error {
  override readonly name = "OAuthError";

  /** `error_description` is one of our own sentences: it repeats nothing that was sent, and has no `"` and no `\`. */
  constructor(readonly error: OAuthErrorCode, readonly error_description: string, readonly status = 400) {
    super(error_description);
  }

  toJSON(): { readonly error: OAuthErrorCode; readonly error_description: string } {
    return { error: this.error, error_description: this.error_description };
  }
}

/** Throws an OAuthError with status 400. */
export function refuse(error: OAuthErrorCode, description: string): never {
  throw new OAuthError(error, description);
}
