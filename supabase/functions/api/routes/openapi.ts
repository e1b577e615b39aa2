/** GET /openapi.json: the description of the service, made from the schemas that validate. */
import { z } from "zod";
import { json } from "../http/respond.ts";
import { serverUrl } from "../http/server_url.ts";
import { defineRoute, noParameters, type Route } from "../route.ts";

/** `routes` is called with the first request: the table includes this route itself. */
export function openapiRoute(routes: () => readonly Route[]): Route {
  let document: Promise<Record<string, unknown>> | undefined;
  return defineRoute({
    method: "GET",
    pattern: "/openapi.json",
    operation: null,
    credentials: "none",
    parse: noParameters,
    async handle({ request }) {
      // Made on demand, so that a cold start does not pay for it.
      document ??= import("../openapi/document.ts").then((module) => module.openapiDocument(routes()));
      const { openapi, info, ...rest } = await document;
      const servers = [{ url: serverUrl(request), description: "This deployment" }];
      const response = json({ openapi, info, servers, ...rest });
      // Not `public`: the document names the host that the request came by, and no cache in between may pass it on.
      response.headers.set("Cache-Control", "private, max-age=300");
      return response;
    },
    openapi: {
      id: "openapi",
      summary: "This document",
      answer: z.record(z.string(), z.unknown()),
      errors: [],
    },
  });
}
