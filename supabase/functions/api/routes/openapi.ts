/** GET /openapi.json: the description of the service, made from the schemas that validate. */
import { z } from "zod";
import { json } from "../http/respond.ts";
import { defineRoute, noParameters, type Route } from "./route.ts";

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
      document ??= import("./openapi_document.ts").then((module) => module.openapiDocument(routes()));
      const url = new URL(request.url);
      const response = json({
        ...await document,
        servers: [{ url: `${url.pathname.slice(0, -"/openapi.json".length)}` }],
      });
      response.headers.set("Cache-Control", "public, max-age=300");
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
