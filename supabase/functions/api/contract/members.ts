/** The people in a project, and the invitations. */
import { z } from "zod";
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
