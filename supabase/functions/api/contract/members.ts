/** The people in a project, and the invitations. */
import { z } from "zod";
import { INVITATION_MAILS_PER_DAY_MAX } from "./limits.ts";
import { time, type Wire } from "./values.ts";

/** The roles that a member can be given. */
export const memberRole = z.enum(["viewer", "editor", "admin"]);
export type MemberRole = z.infer<typeof memberRole>;

export const role = z.enum([...memberRole.options, "owner"]).meta({
  description:
    "`viewer` reads, `editor` reads and writes, `admin` also manages keys, members and the project, `owner` also " +
    "transfers and deletes it.",
});
export type Role = z.infer<typeof role>;

export const member = z.object({
  id: z.uuid(),
  email: z.string(),
  role,
  state: z.enum(["active", "invited"]),
  expiresAt: time.optional().meta({ description: "Of an invitation." }),
}).meta({ id: "Member" });
export type Member = Wire<typeof member>;

export const newMember = member.extend({
  mailed: z.boolean().optional().meta({
    description:
      "Whether the service mails the invitation to the address: it does where its operator has set a mail service, up " +
      `to ${INVITATION_MAILS_PER_DAY_MAX} times in 24 hours for an account.`,
  }),
}).meta({ id: "NewMember" });
export type NewMember = Wire<typeof newMember>;

export const memberList = z.object({ members: z.array(member) }).meta({ id: "MemberList" });
export type MemberList = Wire<typeof memberList>;

/** A member or an invitation that is no longer there. */
export const removedMember = z.object({ id: z.uuid() }).meta({ id: "RemovedMember" });
export type RemovedMember = Wire<typeof removedMember>;

/** An invitation as the invited person sees it. */
export const invitation = z.object({
  id: z.uuid(),
  projectName: z.string(),
  role,
  invitedBy: z.string().nullable().meta({ description: "An e-mail address; null: that account is gone." }),
  expiresAt: time,
}).meta({ id: "Invitation" });
export type Invitation = Wire<typeof invitation>;
