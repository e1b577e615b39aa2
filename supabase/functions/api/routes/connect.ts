/** POST /connect: the server of /mcp for apps that sign in. It takes their tokens and no keys; /mcp keys and no tokens. */
import { serverUrl } from "../http/server_url.ts";
import { challenge } from "../oauth/metadata.ts";
import { defineRoute } from "../route.ts";
import { mcp, serveMcp } from "./mcp.ts";

export const connect = defineRoute({
  operation: "mcp",
  credentials: "app",
  ofOAuth: {
    challenge: (request) =>
      challenge(serverUrl(request), request.headers.has("authorization") ? "invalid_token" : undefined),
  },
  handle: serveMcp,
  openapi: {
    ...mcp.openapi,
    id: "connect",
    summary: "Call tools through the Model Context Protocol, for apps that sign in",
    description: "The same server as at `/mcp`. A 401 names the document that says where to get a token.",
    errors: ["FORBIDDEN_ORIGIN"],
  },
});
