/** /account: a signed-in person's permissions and the usage of their projects together; and deletion for good. */
import { account, deletion } from "../contract/projects.ts";
import { validateQuery } from "../http/validate.ts";
import { confirmation } from "./administration.ts";
import { defineRoute } from "../route.ts";

export const getAccount = defineRoute({
  operation: "get_account",
  credentials: "account",
  async handle({ gate, accounts }) {
    const data = account.parse(gate.unwrapAccount(await accounts.describe(gate.accessToken)));
    return { data, message: "The account." };
  },
  openapi: {
    summary:
      "Return the signed-in account: whether it may create projects, its limits, and the usage of its projects",
    answer: "account",
  },
});

const confirmed = confirmation("The account's e-mail address.");

export const deleteAccount = defineRoute({
  operation: "delete_account",
  credentials: "account",
  parse: ({ query }) => validateQuery(confirmed, query),
  async handle({ gate, accounts, metadata, log }, { confirm }) {
    const data = deletion.parse(gate.unwrapAccount(await accounts.deleteAccount(gate.accessToken, confirm)));
    // The account is refused from now on; if Auth is out of reach, the sweep removes it later.
    await metadata.removeAccount(data.id).catch((error) => log.backgroundFault("account", error));
    return { data, message: "Deleted, with all of its projects." };
  },
  openapi: {
    summary: "Delete the signed-in account for good, with all of its projects",
    description: "The service refuses this while the operator has suspended one of the account's projects.",
    query: confirmed,
    answer: "deletedAccount",
    errors: ["FORBIDDEN_SCOPE"],
  },
});
