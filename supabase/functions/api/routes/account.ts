/** GET /account: the permissions of a signed-in person, and the usage of their projects together. */
import { account } from "../contract/projects.ts";
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
    description: "Creates no project, unlike the first `GET /projects`.",
    answer: account,
  },
});
