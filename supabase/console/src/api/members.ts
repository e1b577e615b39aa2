import type {
  Invitation,
  Member,
  MemberList,
  MemberRole,
  NewMember,
  RemovedMember,
} from "../../../functions/api/contract/members.ts";
import { call } from "./client.ts";
import type { Project } from "./projects.ts";

export type { Invitation, Member, MemberRole };

const MEMBERS = "/project/members";

/** The owner first, then members and open invitations, oldest first. */
export async function listMembers(projectId: string, signal?: AbortSignal): Promise<readonly Member[]> {
  return (await call<MemberList>({ path: MEMBERS, projectId, signal })).members;
}

export function inviteMember(projectId: string, email: string, role: MemberRole): Promise<NewMember> {
  return call({ method: "POST", path: MEMBERS, projectId, body: { email, role } });
}

export function changeMember(projectId: string, id: string, role: MemberRole): Promise<Member> {
  return call({ method: "PATCH", path: `${MEMBERS}/${id}`, projectId, body: { role } });
}

/** Removes a member, withdraws an invitation, or leaves. */
export async function removeMember(projectId: string, id: string): Promise<void> {
  await call<RemovedMember>({ method: "DELETE", path: `${MEMBERS}/${id}`, projectId });
}

/** Makes the member the owner of the project. */
export function transferProject(projectId: string, memberId: string): Promise<Project> {
  return call({ method: "POST", path: "/project/transfer", projectId, body: { memberId } });
}

export function acceptInvitation(id: string): Promise<Project> {
  return call({ method: "POST", path: `/invitations/${id}/accept` });
}

export async function declineInvitation(id: string): Promise<void> {
  await call<RemovedMember>({ method: "POST", path: `/invitations/${id}/decline` });
}
