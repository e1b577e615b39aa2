/** The roles of people in a project, in plain words. */
import type { Member, MemberRole } from "../../../api/members.ts";
import { account } from "../../../session/session.ts";

export const ROLES: readonly (readonly [MemberRole, string])[] = [
  ["viewer", "Viewer: reads files"],
  ["editor", "Editor: reads and changes files"],
  ["admin", "Admin: also manages keys, members and settings"],
];

export const ROLE_NAMES: Readonly<Record<Member["role"], string>> = {
  viewer: "Viewer",
  editor: "Editor",
  admin: "Admin",
  owner: "Owner",
};

export function isMemberRole(value: string): value is MemberRole {
  return ROLES.some(([role]) => role === value);
}

/** Whether the address is that of the signed-in person. */
export function isOwnAddress(email: string): boolean {
  return email !== "" && email === account.value?.email?.toLowerCase();
}
