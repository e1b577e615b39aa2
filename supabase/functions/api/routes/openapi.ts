/** Descriptions of the service: GET /openapi.json for programs, GET /llms.txt for language models. */
import { json } from "../http/respond.ts";
import { serverUrl } from "../http/server_url.ts";
import { defineRoute, type Definition, type Route } from "../route.ts";

/** Not `public`: a document names the host of its request, so a shared cache must not serve it to others. */
const CACHE_CONTROL = "private, max-age=300";

/** `routes` is called with the first request: the table includes this route itself. */
export function openapiRoute(routes: () => Promise<Route[]>): Definition {
  let document: Promise<Record<string, unknown>> | undefined;
  return defineRoute({
    operation: null,
    credentials: "none",
    async handle({ request }) {
      document ??= import("../openapi/document.ts").then(async (module) =>
        module.openapiDocument(await routes())
      );
      const { openapi, info, ...rest } = await document;
      const servers = [{ url: serverUrl(request), description: "This deployment" }];
      const response = json({ openapi, info, servers, ...rest });
      response.headers.set("Cache-Control", CACHE_CONTROL);
      return response;
    },
    openapi: {
      id: "openapi",
      summary: "Describe the service in OpenAPI, for programs",
      answer: "openapiDocument",
    },
  });
}

/** `routes` is called with each request: the table includes this route itself. */
export function llmsRoute(routes: () => Promise<Route[]>): Definition {
  return defineRoute({
    operation: null,
    credentials: "none",
    async handle({ request }) {
      const { llmsText } = await import("../openapi/llms.ts");
      return new Response(llmsText(await routes(), serverUrl(request)), {
        headers: { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": CACHE_CONTROL },
      });
    },
    openapi: {
      id: "llms",
      summary: "Describe the service in one page, for language models",
      mediaType: "text/plain",
    },
  });
}
