import { assertEquals } from "@std/assert";
import { OAuthError } from "../../../supabase/functions/api/oauth/errors.ts";
import {
  challenge,
  resourceMetadata,
  serverMetadata,
} from "../../../supabase/functions/api/oauth/metadata.ts";

const base = "https://a.supabase.co/functions/v1/api";
const addresses = { base, issuer: base };

Deno.test("the server's metadata has PKCE by S256 alone, no secrets, and says whether documents are fetched", () => {
  assertEquals(serverMetadata(addresses, true), {
    issuer: base,
    authorization_endpoint: `${base}/oauth/authorize`,
    token_endpoint: `${base}/oauth/token`,
    registration_endpoint: `${base}/oauth/register`,
    revocation_endpoint: `${base}/oauth/revoke`,
    scopes_supported: ["files:read", "files:write"],
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    token_endpoint_auth_methods_supported: ["none"],
    revocation_endpoint_auth_methods_supported: ["none"],
    code_challenge_methods_supported: ["S256"],
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
    jwks_uri: `${base}/oauth/jwks`,
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
  });
  assertEquals(serverMetadata(addresses, false).client_id_metadata_document_supported, false);
  const other = serverMetadata({ base, issuer: "https://files.example" }, true);
  assertEquals([other.issuer, other.token_endpoint], ["https://files.example", `${base}/oauth/token`]);
});

Deno.test("the resource's metadata names its server, and the challenge names that document", () => {
  assertEquals(resourceMetadata({ base, issuer: "https://files.example" }, `${base}/connect`), {
    resource: `${base}/connect`,
    authorization_servers: ["https://files.example"],
    scopes_supported: ["files:read", "files:write"],
    bearer_methods_supported: ["header"],
  });
  const rest = `resource_metadata="${base}/connect/oauth-protected-resource", scope="files:read files:write"`;
  assertEquals(challenge(base), `Bearer ${rest}`);
  assertEquals(challenge(base, "invalid_token"), `Bearer error="invalid_token", ${rest}`);
});

Deno.test("an error of OAuth is written with its two fields", () => {
  const error = new OAuthError("invalid_client", "No.", 401);
  assertEquals(JSON.stringify(error), '{"error":"invalid_client","error_description":"No."}');
  assertEquals(error.status, 401);
});
