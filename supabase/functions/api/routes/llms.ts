/** GET /llms.txt: what the service is and each of its routes in a line, for language models. */
import { DOCUMENT_CACHE } from "./openapi.ts";
import { serverUrl } from "../http/server_url.ts";
import { defineRoute, type Definition, type Route } from "../route.ts";

/** `routes` is called with each request: the table includes this route itself. */
export function llmsRoute(routes: () => Promise<Route[]>): Definition {
  return defineRoute({
    operation: null,
    credentials: "none",
    async handle({ request }) {
      // Loaded on demand, so that a cold start does not pay for it.
      const { llmsText } = await import("../openapi/llms.ts");
      return new Response(llmsText(await routes(), serverUrl(request)), {
        headers: { "Content-Type": "text/plain; charset=utf-8", ...DOCUMENT_CACHE },
      });
    },
    openapi: {
      id: "llms",
      summary: "Describe the service in one page, for language models",
      mediaType: "text/plain",
    },
  });
}
