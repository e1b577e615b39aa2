/** Descriptions of the service: GET /openapi.json for programs, GET /llms.txt for language models. */
import { z } from "zod";
import { json } from "../http/respond.ts";
import { serverUrl } from "../http/server_url.ts";
import { defineRoute, type Route } from "../route.ts";

/** Not `public`: a document names the host of its request, so a shared cache must not serve it to others. */
const CACHE_CONTROL = "private, max-age=300";

/** `routes` is called with each request: the table includes these routes themselves. */
export function documentRoutes(routes: () => readonly Route[]): readonly Route[] {
  let document: Promise<Record<string, unknown>> | undefined;
  const ofDocument = { method: "GET", operation: null, credentials: "none" } as const;
  return [
    defineRoute({
      ...ofDocument,
      pattern: "/openapi.json",
      async handle({ request }) {
        // Generated on demand, so that a cold start does not pay for it.
        document ??= import("../openapi/document.ts").then((module) => module.openapiDocument(routes()));
        const { openapi, info, ...rest } = await document;
        const servers = [{ url: serverUrl(request), description: "This deployment" }];
        const response = json({ openapi, info, servers, ...rest });
        response.headers.set("Cache-Control", CACHE_CONTROL);
        return response;
      },
      openapi: {
        id: "openapi",
        summary: "Describe the service in OpenAPI, for programs",
        answer: z.record(z.string(), z.unknown()),
      },
    }),
    defineRoute({
      ...ofDocument,
      pattern: "/llms.txt",
      async handle({ request }) {
        // Loaded on demand, so that a cold start does not pay for it.
        const { llmsText } = await import("../openapi/llms.ts");
        return new Response(llmsText(routes(), serverUrl(request)), {
          headers: { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": CACHE_CONTROL },
        });
      },
      openapi: {
        id: "llms",
        summary: "Describe the service in one page, for language models",
        mediaType: "text/plain",
      },
    }),
  ];
}
