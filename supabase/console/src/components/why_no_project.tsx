/** Explains why the signed-in person may not create projects, and what they can do about it. */
import type { Account } from "../api/projects.ts";
import { formatCount, formatNumber } from "../format.ts";

export function WhyNoProject({ account: { email, reason, limits, usage } }: { readonly account: Account }) {
  const who = email === null ? "this account" : <strong class="path">{email}</strong>;
  switch (reason) {
    case "operator_only":
      return (
        <p>
          Only the operator of this service can create projects. Ask the operator for one for {who}.
        </p>
      );
    case "not_listed":
      return (
        <p>
          Only listed e-mail addresses can create projects, and {who}{" "}
          is not on the list. Ask the operator of this service to add it, or to give you a project.
        </p>
      );
    case "address_unconfirmed":
      return (
        <p>
          Only confirmed e-mail addresses can create projects, and {who}{" "}
          is not confirmed. Follow the link in the mail from your sign-up, then check again.
        </p>
      );
    case "project_limit":
      return (
        <p>
          You have {formatNumber(usage.projects)} of{" "}
          {formatCount(limits.maxProjects, "project")}. Delete one under “Settings and usage”, or ask the
          operator of this service for another one.
        </p>
      );
    default:
      return <p>This account cannot create projects. Ask the operator of this service for one.</p>;
  }
}
