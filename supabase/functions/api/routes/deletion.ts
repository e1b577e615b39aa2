/** DELETE /project and DELETE /account: for good, with all of their contents. */
import { z } from "zod";
import { deletion } from "../contract/projects.ts";
import type { RequestData } from "../http/request_data.ts";
import { validateQuery } from "../http/validate.ts";
import { administer } from "./administration.ts";
import { defineRoute } from "../route.ts";
import { withoutNul } from "./schemas.ts";

const confirmation = (what: string) =>
  z.object({ confirm: z.string().min(1).refine(...withoutNul).meta({ description: what }) });
const projectQuery = confirmation("The project's name, exactly as it is.");
const accountQuery = confirmation("The account's e-mail address.");

const parseConfirmation = (schema: typeof projectQuery) => ({ query }: RequestData) =>
  validateQuery(schema, query);

export const deleteProject = defineRoute({
  operation: "delete_project",
  credentials: "account or key",
  allows: { admin: "delete the project with everything in it" },
  parse: parseConfirmation(projectQuery),
  async handle(context, { confirm }) {
    const request = { confirm, deletionId: crypto.randomUUID() };
    const data = deletion.parse(await administer(context, "delete", request));
    return { data, message: "Deleted. The service refuses its keys; the sweep erases its data." };
  },
  openapi: {
    summary:
      "Delete a project for good, with everything in it; a request with an API key needs the scope `admin`",
    description:
      "From then on the service refuses the project's keys, links and console sessions. The sweep erases all of its data.",
    query: projectQuery,
    answer: deletion.meta({ id: "DeletedProject" }),
  },
});

export const deleteAccount = defineRoute({
  operation: "delete_account",
  credentials: "account",
  parse: parseConfirmation(accountQuery),
  async handle({ gate, accounts, metadata, log }, { confirm }) {
    const data = deletion.parse(gate.unwrapAccount(await accounts.deleteAccount(gate.accessToken, confirm)));
    // The account is refused from now on; if Auth is out of reach, the sweep removes it later.
    await metadata.removeAccount(data.id).catch((error) => log.backgroundFault("account", error));
    return { data, message: "Deleted, with all of its projects." };
  },
  openapi: {
    summary: "Delete the signed-in account for good, with all of its projects",
    description: "The service refuses this while the operator has suspended one of the account's projects.",
    query: accountQuery,
    answer: deletion.meta({ id: "DeletedAccount" }),
    errors: ["FORBIDDEN_SCOPE"],
  },
});
