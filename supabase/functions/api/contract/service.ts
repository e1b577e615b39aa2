/** The operations that answers name, and the answers of the service about itself. */
import { z } from "zod";
import { count, time, type Wire } from "./values.ts";

export const OPERATIONS = [
  "read_file",
  "get_file_metadata",
  "get_file_versions",
  "list_files",
  "write_file",
  "delete_file",
  "purge_file",
  "redact_versions",
  "restore_file",
  "copy_file",
  "move_file",
  "diff_file",
  "search_files",
  "batch",
  "list_changes",
  "export_files",
  "list_runs",
  "get_run",
  "mcp",
  "create_link",
  "list_links",
  "revoke_link",
  "read_link",
  "write_link",
  "memory",
  "copy_folder",
  "move_folder",
  "delete_folder",
  "undo_run",
  "restore_folder",
  "create_branch",
  "list_branches",
  "get_branch",
  "change_branch",
  "merge_branch",
  "update_branch",
  "sweep",
  "list_projects",
  "create_project",
  "get_project",
  "update_project",
  "delete_project",
  "get_account",
  "delete_account",
  "list_api_keys",
  "create_api_key",
  "rotate_api_key",
  "update_api_key",
  "revoke_api_key",
  "regenerate_api_key",
  "get_app_request",
  "answer_app_request",
  "list_members",
  "invite_member",
  "change_member",
  "remove_member",
  "accept_invitation",
  "decline_invitation",
  "transfer_project",
  "list_activity",
  "get_usage",
  "list_webhooks",
  "create_webhook",
  "update_webhook",
  "delete_webhook",
  "test_webhook",
  "replay_webhook",
  "list_webhook_deliveries",
] as const;
export type Operation = (typeof OPERATIONS)[number];

export const health = z.object({
  status: z.enum(["ok", "degraded"]),
  timestamp: time,
  message: z.string(),
  version: z.string(),
}).meta({ id: "Health" });

export const sweep = z.object({
  seen: count.meta({ description: "Objects examined." }),
  removed: count,
  indexed: count.meta({
    description: "Pending files that were indexed.",
  }),
  isDone: z.boolean().meta({
    description: "Whether nothing is left to do; with `begun`: nothing that was due at that time.",
  }),
}).meta({ id: "Sweep" });
export type SweepSlice = Wire<typeof sweep>;

export const memoryAnswer = z.object({
  content: z.string().meta({ description: "The content of the tool result." }),
  is_error: z.boolean(),
}).meta({ id: "MemoryAnswer" });

export const mcpReply = z.looseObject({ jsonrpc: z.literal("2.0") })
  .meta({ id: "McpReply", description: "A JSON-RPC 2.0 response." });

const text = z.string();

/** The answers to apps that sign in are those of OAuth, without the envelope. */
export const resourceMetadata = z.object({
  resource: z.url(),
  authorization_servers: z.array(z.url()),
  scopes_supported: z.array(text),
  bearer_methods_supported: z.array(text),
}).meta({ id: "ProtectedResourceMetadata", description: "RFC 9728." });

export const serverMetadata = z.looseObject({
  issuer: z.url(),
  authorization_endpoint: z.url(),
  token_endpoint: z.url(),
}).meta({ id: "AuthorizationServerMetadata", description: "RFC 8414, and OpenID Connect Discovery." });

export const keySet = z.object({ keys: z.array(z.never()) }).meta({ id: "KeySet" });

export const registeredClient = z.looseObject({ client_id: text, redirect_uris: z.array(text) })
  .meta({ id: "RegisteredClient", description: "RFC 7591, section 3.2.1." });

export const appTokens = z.object({
  access_token: text,
  token_type: z.literal("Bearer"),
  expires_in: count,
  refresh_token: text,
  scope: text,
}).meta({ id: "AppTokens", description: "RFC 6749, section 5.1." });

export const noAnswer = z.object({}).meta({ id: "NoAnswer" });

export const openapiDocument = z.record(z.string(), z.unknown());
