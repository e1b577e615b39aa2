/** GET /openapi.json: the description of the service, made from the schemas that validate. */
import { z } from "zod";
import type { Context } from "../context.ts";
import type { Route } from "./route.ts";
import { document } from "../http/respond.ts";

let made: Promise<Record<string, unknown>> | undefined;

async function handle(context: Context): Promise<Response> {
  // Made on demand: nobody pays for it at a cold start.
  made ??= import("./openapi_document.ts").then((module) => module.openapiDocument());
  const url = new URL(context.request.url);
  const response = document({
    ...await made,
    servers: [{ url: `${url.pathname.slice(0, -"/openapi.json".length)}` }],
  });
  response.headers.set("Cache-Control", "public, max-age=300");
  return response;
}

export const openapi: Route = {
  method: "GET",
  pattern: "/openapi.json",
  operation: null,
  needsKey: false,
  handle,
  document: {
    id: "openapi",
    summary: "This document",
    answer: z.record(z.string(), z.unknown()),
    errors: [],
  },
};
