/** GET /openapi.json: the description of the service, generated from the schemas that validate. */
import { z } from "zod";
import { json } from "../http/respond.ts";
import { serverUrl } from "../http/server_url.ts";
import { defineRoute, type Definition, type Route } from "../route.ts";

/** Not `public`: a document names the host of its request, so a shared cache must not serve it to others. */
export const DOCUMENT_CACHE = { "Cache-Control": "private, max-age=300" } as const;

/** `routes` is called with the first request: the table includes this route itself. */
export function openapiRoute(routes: () => Promise<Route[]>): Definition {
  let document: Promise<Record<string, unknown>> | undefined;
  return defineRoute({
    operation: null,
    credentials: "none",
    async handle({ request }) {
      // Generated on demand, so that a cold start does not pay for it.
      document ??= import("../openapi/document.ts").then(async (module) =>
        module.openapiDocument(await routes())
      );
      const { openapi, info, ...rest } = await document;
      const servers = [{ url: serverUrl(request), description: "This deployment" }];
      const response = json({ openapi, info, servers, ...rest });
      response.headers.set("Cache-Control", DOCUMENT_CACHE["Cache-Control"]);
      return response;
    },
    openapi: {
      id: "openapi",
      summary: "Describe the service in OpenAPI, for programs",
      answer: z.record(z.string(), z.unknown()),
    },
  });
}
