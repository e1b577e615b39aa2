/** What a client says of itself (RFC 7591 section 2), in a registration or in its document. */
import {
  OAUTH_CLIENT_NAME_LENGTH_MAX,
  OAUTH_REDIRECT_URIS_LENGTH_MAX,
  OAUTH_REDIRECT_URIS_MAX,
} from "../limits.ts";
import { withoutHidden } from "../runtime/hidden_characters.ts";
import { refuse } from "./errors.ts";
import { isRedirectUri } from "./redirect_uri.ts";

export interface Description {
  /** What the app calls itself, without characters that could make it look like something else; may be "". */
  readonly name: string;
  readonly redirectUris: readonly string[];
}

/** Other fields are ignored. Throws OAuthError `invalid_client_metadata` or `invalid_redirect_uri`. */
export function describe(metadata: Readonly<Record<string, unknown>>): Description {
  const { client_name: name = "", redirect_uris: uris, grant_types: grants, response_types: responses } =
    metadata;
  if (typeof name !== "string") refuse("invalid_client_metadata", "client_name must be text.");
  if (!includes(grants, "authorization_code") || !includes(responses, "code")) {
    refuse(
      "invalid_client_metadata",
      "Only the grant type authorization_code with the response type code is served.",
    );
  }
  if (!isListOfTexts(uris) || uris.length === 0 || uris.length > OAUTH_REDIRECT_URIS_MAX) {
    refuse(
      "invalid_redirect_uri",
      `redirect_uris must be a list of 1 to ${OAUTH_REDIRECT_URIS_MAX} addresses.`,
    );
  }
  if (!uris.every(isRedirectUri) || uris.join().length > OAUTH_REDIRECT_URIS_LENGTH_MAX) {
    refuse(
      "invalid_redirect_uri",
      "A redirect URI is https, http on loopback, or an app's own scheme, without fragment.",
    );
  }
  return { name: shown(name), redirectUris: uris };
}

/** Neither hidden characters nor ends of lines, and no longer than a person reads. */
function shown(name: string): string {
  const characters = [...withoutHidden(name.toWellFormed().replaceAll(/\s+/gu, " ")).trim()];
  return characters.slice(0, OAUTH_CLIENT_NAME_LENGTH_MAX).join("");
}

/** RFC 7591 section 2: a client that does not say so means these defaults. */
function includes(list: unknown, value: string): boolean {
  return list === undefined || isListOfTexts(list) && list.includes(value);
}

export function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
