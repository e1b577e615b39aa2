/** Explains why the signed-in person may not create projects, and what they can do about it. */
import type { Account } from "../api/projects.ts";
import { formatCount, formatNumber } from "../format.ts";

export function WhyNoProject({ account: { email, reason, limits, usage } }: { readonly account: Account }) {
  const who = email === null ? "this account" : <strong class="path">{email}</strong>;
  switch (reason) {
    case "operator_only":
      return (
        <p>
          Only the operator of this service creates projects, and gives them to accounts. Ask the operator for
          one for {who}.
        </p>
      );
    case "not_listed":
      return (
        <p>
          Only e-mail addresses that the operator of this service has listed may create projects, and {who}{" "}
          is not among them. Ask them to list it, or to give you a project.
        </p>
      );
    case "address_unconfirmed":
      return (
        <p>
          Only e-mail addresses that the operator of this service has listed may create projects, and {who}{" "}
          is not confirmed. Follow the link in the mail that came when you signed up, then look again.
        </p>
      );
    case "project_limit":
      return (
        <p>
          An account with {formatCount(limits.maxProjects, "project")} makes no more, and you have{" "}
          {formatNumber(usage.projects)}. Delete one that is not needed, under “Settings and usage”, or ask
          the operator of this service for another one.
        </p>
      );
    default:
      return <p>This account may not create projects. Ask the operator of this service for one.</p>;
  }
}
