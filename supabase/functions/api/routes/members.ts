/** /project/members, /project/transfer and /invitations: the people in a project. With a person's token alone. */
import { z } from "zod";
import { member, memberList, memberRole, newMember, removedMember } from "../contract/members.ts";
import { project } from "../contract/projects.ts";
import type { Context } from "../context.ts";
import { ERRORS, fail } from "../errors.ts";
import { ADDRESS_LENGTH_MAX } from "../limits.ts";
import type { MemberAction } from "../ports/accounts.ts";
import type { RequestData } from "../http/request_data.ts";
import { readAdministrationFields } from "./administration.ts";
import { defineRoute } from "../route.ts";
import { counted } from "../runtime/counted.ts";

const invited = z.object({
  email: z.email().max(ADDRESS_LENGTH_MAX).meta({ description: "Upper and lower case are the same." }),
  role: memberRole,
});
/** `mail`: what it says. Absent: there is to be none. */
const invitation = member.extend({
  mail: z.object({ projectName: z.string(), invitedBy: z.string().nullish() }).optional(),
});
const changed = z.object({ role: memberRole });
const transferred = z.object({ memberId: z.uuid().meta({ description: "Of a member who has accepted." }) });

/** The id of a member or an invitation in the URL. A malformed id belongs to none. */
const parseId = (code: "MEMBER_NOT_FOUND" | "INVITATION_NOT_FOUND") => ({ params: { id } }: RequestData) =>
  z.uuid().safeParse(id).success ? id : fail(code, ERRORS[code].message);

/** Performs `action` on the people in the project that the request names. Throws its refusal. */
async function manage(
  { gate, accounts }: Context,
  action: MemberAction,
  parameters: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const projectId = gate.account?.projectId ?? null;
  return gate.unwrapAccount(await accounts.manageMembers(gate.accessToken, projectId, action, parameters));
}

const OF_PROJECT = { headers: ["x-project-id"] };

export const listMembers = defineRoute({
  operation: "list_members",
  credentials: "account",
  async handle(context) {
    const data = memberList.parse({ members: await manage(context, "members", {}) });
    return { data, message: `${counted(data.members.length, "member")}.` };
  },
  openapi: {
    ...OF_PROJECT,
    summary: "List the people in a project, its owner first, and its open invitations",
    answer: "memberList",
  },
});

export const inviteMember = defineRoute({
  operation: "invite_member",
  credentials: "account",
  async handle(context) {
    const { sendMail } = context;
    const fields = await readAdministrationFields(context, invited);
    const parameters = { ...fields, id: crypto.randomUUID(), mails: sendMail !== null };
    const { mail, ...made } = invitation.parse(await manage(context, "invite", parameters));
    const { email, role, expiresAt = "" } = made;
    if (mail !== undefined) {
      sendMail?.((mails, settings) => mails.invitationMail({ ...mail, email, role, expiresAt }, settings));
    }
    return { data: newMember.parse({ ...made, mailed: mail !== undefined }), message: "Invited." };
  },
  openapi: {
    ...OF_PROJECT,
    summary: "Invite an e-mail address; for admins and the owner",
    description:
      "The invitation waits for an account with this confirmed address. Whether there is one is never told.",
    body: invited,
    example: { email: "ada@example.org", role: "editor" },
    answer: "newMember",
    errors: ["FORBIDDEN_SCOPE", "MEMBER_ALREADY_EXISTS", "MEMBER_LIMIT_REACHED"],
  },
});

export const changeMember = defineRoute({
  operation: "change_member",
  credentials: "account",
  parse: parseId("MEMBER_NOT_FOUND"),
  async handle(context, id) {
    const fields = await readAdministrationFields(context, changed);
    const data = member.parse(await manage(context, "change_member", { ...fields, id }));
    return { data, message: "Changed, from the next request on." };
  },
  openapi: {
    ...OF_PROJECT,
    summary: "Change the role of a member or an invitation; for admins and the owner",
    body: changed,
    example: { role: "viewer" },
    answer: "member",
    errors: ["FORBIDDEN_SCOPE", "MEMBER_NOT_FOUND", "OWNER_REQUIRED"],
  },
});

export const removeMember = defineRoute({
  operation: "remove_member",
  credentials: "account",
  parse: parseId("MEMBER_NOT_FOUND"),
  async handle(context, id) {
    const data = removedMember.parse(await manage(context, "remove_member", { id }));
    return { data, message: "Removed, from the next request on." };
  },
  openapi: {
    ...OF_PROJECT,
    summary: "Remove a member, withdraw an invitation, or leave; others are removed by admins and the owner",
    description: "The links and apps of that person end. Keys stay.",
    answer: "removedMember",
    errors: ["FORBIDDEN_SCOPE", "MEMBER_NOT_FOUND", "OWNER_REQUIRED"],
  },
});

export const transferProject = defineRoute({
  operation: "transfer_project",
  credentials: "account",
  async handle(context) {
    const { memberId } = await readAdministrationFields(context, transferred);
    const data = project.parse(await manage(context, "transfer", { id: memberId }));
    return { data, message: "Transferred. You are an admin of the project now." };
  },
  openapi: {
    ...OF_PROJECT,
    summary: "Make a member the owner of the project; for its owner, who becomes an admin",
    description: "The project then counts towards the new owner's shared quota and number of projects.",
    body: transferred,
    example: { memberId: "3f0e1c9a-0000-4000-8000-000000000000" },
    answer: "project",
    errors: [
      "FORBIDDEN_SCOPE",
      "MEMBER_NOT_FOUND",
      "PROJECT_LIMIT_REACHED",
      "PROJECT_NAME_TAKEN",
      "QUOTA_EXCEEDED",
    ],
  },
});

export const acceptInvitation = defineRoute({
  operation: "accept_invitation",
  credentials: "account",
  parse: parseId("INVITATION_NOT_FOUND"),
  async handle({ gate, accounts }, id) {
    const accepted = gate.unwrapAccount(await accounts.answerInvitation(gate.accessToken, id, true));
    return { data: project.parse(accepted), message: "Accepted." };
  },
  openapi: {
    summary: "Accept an invitation to the account's confirmed address; returns the project",
    answer: "project",
    errors: ["INVITATION_NOT_FOUND", "MEMBER_ALREADY_EXISTS"],
  },
});

export const declineInvitation = defineRoute({
  operation: "decline_invitation",
  credentials: "account",
  parse: parseId("INVITATION_NOT_FOUND"),
  async handle({ gate, accounts }, id) {
    const declined = gate.unwrapAccount(await accounts.answerInvitation(gate.accessToken, id, false));
    return { data: removedMember.parse(declined), message: "Declined." };
  },
  openapi: {
    summary: "Decline an invitation to the account's confirmed address",
    answer: "removedMember",
    errors: ["INVITATION_NOT_FOUND"],
  },
});
