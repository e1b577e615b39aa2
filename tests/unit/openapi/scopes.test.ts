/** Every place that describes a scope lists all of its rights, as the routes define them. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { SCOPE_MEANINGS } from "../../../supabase/console/src/views/keys/scope_meanings.ts";
import { matches } from "../../../supabase/functions/api/http/request_data.ts";
import { allRoutes } from "../../../supabase/functions/api/routes/mod.ts";
import { openapiDocument } from "../../../supabase/functions/api/openapi/document.ts";
import { scope as scopes } from "../../../supabase/functions/api/contract/values.ts";
import { describeScope } from "../../../supabase/functions/api/openapi/document.ts";
import { SCOPES_HELP } from "../../../supabase/local/cli/scopes_help.ts";
import { FILE_ROUTES, PROJECT_ROUTES } from "../../support/client/every_route.ts";

const ROUTES = await allRoutes();

Deno.test("each route says in words what the scopes allow that it asks for", () => {
  for (const { name, method, path, scopes } of [...FILE_ROUTES, ...PROJECT_ROUTES]) {
    const [rawPath = ""] = path.replace("{file}", "x").split("?");
    const route = ROUTES.find((route) => route.method === method && matches(route.pattern, rawPath));
    assert(scopes.length === 0 || scopes.some((scope) => route?.allows?.[scope]), name);
  }
  const silent = ROUTES.filter(({ credentials, allows }) => credentials.endsWith("key") && !allows);
  assertEquals(silent.map(({ method, pattern }) => `${method} ${pattern}`), [
    "GET /project",
    "POST /memory",
    "POST /mcp",
    "POST /sweep",
  ]);
});

Deno.test("the description of the scope admin names deleting the project, erasing files and creating keys", () => {
  const admin = describeScope("admin", ROUTES);
  for (
    const part of ["delete the project with everything", "erase files and versions", "create keys with any"]
  ) {
    assertStringIncludes(admin, part);
  }
});

Deno.test("console, command line and /openapi.json say of each scope what the routes say", () => {
  const { components } = openapiDocument(ROUTES);
  const { apiKey, bearer } = Object(Object(components).securitySchemes);
  const help = SCOPES_HELP.replaceAll(/\s+/g, " ");
  for (const scope of scopes.options) {
    const meaning = describeScope(scope, ROUTES);
    assertEquals(SCOPE_MEANINGS[scope], meaning);
    assertStringIncludes(help, `${scope}: ${meaning}`);
    for (const { description } of [apiKey, bearer]) assertStringIncludes(description, meaning);
  }
});
