/** The people in a project: invitations, memberships and their requests. */
import { type Account, claimsOf, signUp } from "./accounts.ts";
import { dataOf, invitationList, memberList, newMemberRecord, projectRecord } from "./contract.ts";
import type { Answer } from "./contract.ts";
import { trafficOf } from "./traffic.ts";

export type Given = "viewer" | "editor" | "admin";

export const addressOf = ({ token }: Account) => String(claimsOf(token)["email"]);

export function invite(by: Account, email: string, role: Given): Promise<Answer> {
  return by.request("POST", "/project/members", { body: { email, role } });
}

/** All that the person who invites can observe, without what names the invitation itself. */
export async function observedInvitation(by: Account, address: string) {
  const found: unknown[] = [];
  const traffic = await trafficOf(by.service, async () => {
    const answer = await invite(by, address, "viewer");
    const { id, expiresAt = "" } = dataOf(answer, "invite_member", newMemberRecord);
    found.push(
      answer.status,
      answer.text.replace(id, "id").replace(address, "address").replace(expiresAt, "at"),
    );
  });
  return [...found, traffic];
}

export async function invited(by: Account, email: string, role: Given) {
  return dataOf(await invite(by, email, role), "invite_member", newMemberRecord);
}

export async function membersOf(by: Account) {
  return dataOf(await by.request("GET", "/project/members"), "list_members", memberList).members;
}

export async function invitationsOf(person: Account) {
  return dataOf(await person.request("GET", "/projects"), "list_projects", invitationList).invitations;
}

export async function accept(person: Account, id: string) {
  const answer = await person.request("POST", `/invitations/${id}/accept`);
  return dataOf(answer, "accept_invitation", projectRecord);
}

/** A new person who has accepted an invitation, about the project; `id` is that of the member. */
export async function joined(by: Account, role: Given): Promise<Account & { readonly id: string }> {
  const person = await signUp(by.service);
  const { id } = await invited(by, addressOf(person), role);
  await accept(person, id);
  return Object.assign(person.about(by.projectId), { id });
}
