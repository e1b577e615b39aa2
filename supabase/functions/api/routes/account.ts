/** GET /account: what the operator lets a signed-in person do, and what their projects use together. */
import { z } from "zod";
import { success } from "../http/respond.ts";
import { ACCOUNT_ERRORS } from "./administration.ts";
import { defineRoute, noParameters } from "../route.ts";

const count = z.int().min(0);

const account = z.object({
  id: z.uuid(),
  email: z.string().nullable().meta({ description: "Null: the account has no address." }),
  projectMakers: z.enum(["anyone", "listed", "nobody"]).meta({
    description:
      "Whom the operator lets make projects: any account; those with a confirmed address or domain on the operator's " +
      "list, which is not shown; or no account, only the operator.",
  }),
  mayCreateProjects: z.boolean().meta({ description: "Whether this account may make one now." }),
  reason: z.enum(["operator_only", "not_listed", "address_unconfirmed", "project_limit"]).nullable().meta({
    description:
      "Why it may not; null where it may. `address_unconfirmed` says nothing of whether the address is listed. " +
      "`project_limit`: it has as many as it may have.",
  }),
  limits: z.object({
    requestsPerMinute: count.meta({ description: "About projects and keys, whatever the projects' own." }),
    maxProjects: count.meta({ description: "The operator may give the account more." }),
    maxSharedBytes: count.nullable().meta({
      description:
        "What those of its projects that have the quota of their tier may use together. Null: no more than each.",
    }),
  }),
  usage: z.object({
    requestsThisMinute: count,
    projects: count,
    sharedBytes: count.meta({
      description: "Of `maxSharedBytes`: content and records, as `bytes` and `databaseBytes` of a project.",
    }),
  }),
}).meta({ id: "Account" });

export const getAccount = defineRoute({
  method: "GET",
  pattern: "/account",
  operation: "get_account",
  credentials: "account",
  parse: noParameters,
  async handle({ gate, accounts }) {
    const data = account.parse(gate.unwrapAccount(await accounts.describe(gate.accessToken)));
    return success("get_account", data, "The account.");
  },
  openapi: {
    id: "getAccount",
    summary:
      "The signed-in account: whether it may create projects, its limits and what its projects use together",
    description: "Makes nothing, unlike the first `GET /projects`.",
    answer: account,
    errors: ACCOUNT_ERRORS,
  },
});
