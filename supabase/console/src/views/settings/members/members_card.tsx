/** The people in a project: their roles, open invitations, and leaving. */
import { useState } from "preact/hooks";
import { reasonFor, reasonOf } from "../../../api/failure.ts";
import {
  changeMember,
  inviteMember,
  listMembers,
  type Member,
  type MemberRole,
} from "../../../api/members.ts";
import type { Project } from "../../../api/projects.ts";
import { FormDialog, FormProblem, SelectField, TextField, useSubmit } from "../../../components/form.tsx";
import { Icon } from "../../../components/icon.tsx";
import { Age, ListTable } from "../../../components/list.tsx";
import { Pending } from "../../../components/states.tsx";
import { visible } from "../../../format.ts";
import { notify, notifyProblem } from "../../../state/notices.ts";
import { useLoad } from "../../../state/use_load.ts";
import { RemoveDialog } from "./remove_dialog.tsx";
import { isMemberRole, isOwnAddress, ROLE_NAMES, ROLES } from "./roles.ts";

export function MembersCard({ project: { id: projectId, role } }: { readonly project: Project }) {
  const [isInviting, setInviting] = useState(false);
  const [removed, setRemoved] = useState<Member | null>(null);
  const { data, error, reload } = useLoad(`members ${projectId}`, (signal) => listMembers(projectId, signal));
  const isAdmin = role === "owner" || role === "admin";
  const change = async (member: Member, next: MemberRole) => {
    try {
      await changeMember(projectId, member.id, next);
      notify(`${visible(member.email)} is now ${ROLE_NAMES[next].toLowerCase()}.`);
    } catch (error) {
      notifyProblem(reasonOf(error));
    }
    reload();
  };
  return (
    <section class="card" aria-labelledby="members-title">
      <div class="card-head">
        <h2 id="members-title">Members</h2>
        {isAdmin && (
          <button type="button" class="primary" onClick={() => setInviting(true)}>
            <Icon name="plus" />Invite
          </button>
        )}
      </div>
      {data === undefined ? <Pending {...{ error, reload }} what="the members" /> : (
        <ListTable
          class="list members"
          caption="People in this project"
          columns={[["Person"], ["Role"], ["Actions", "actions"]]}
        >
          {data.map((member) => (
            <Row
              key={member.id}
              {...{ member, isAdmin }}
              onChange={(next) => change(member, next)}
              onRemove={() => setRemoved(member)}
            />
          ))}
        </ListTable>
      )}
      {isInviting && (
        <InviteDialog
          projectId={projectId}
          onClose={() => setInviting(false)}
          onDone={() => {
            setInviting(false);
            reload();
          }}
        />
      )}
      {removed && (
        <RemoveDialog
          {...{ projectId }}
          member={removed}
          onClose={() => setRemoved(null)}
          onDone={() => {
            setRemoved(null);
            reload();
          }}
        />
      )}
    </section>
  );
}

interface RowProperties {
  readonly member: Member;
  readonly isAdmin: boolean;
  readonly onChange: (role: MemberRole) => void;
  readonly onRemove: () => void;
}

function Row({ member: { email, role, state, expiresAt }, isAdmin, onChange, onRemove }: RowProperties) {
  const isOneself = isOwnAddress(email);
  const action = state === "invited" ? "Withdraw" : isOneself ? "Leave" : "Remove";
  return (
    <tr>
      <td class="name">
        {visible(email)}
        {isOneself && <span class="tag">you</span>}
        {expiresAt !== undefined && (
          <span class="hint">
            invited, expires <Age iso={expiresAt} />
          </span>
        )}
      </td>
      <td>
        {isAdmin && isMemberRole(role)
          ? (
            <select
              aria-label={`Role of ${email}`}
              value={role}
              onChange={({ currentTarget: { value } }) => isMemberRole(value) && onChange(value)}
            >
              {ROLES.map(([one]) => <option key={one} value={one}>{ROLE_NAMES[one]}</option>)}
            </select>
          )
          : ROLE_NAMES[role]}
      </td>
      <td class="actions">
        {role !== "owner" && (isAdmin || isOneself) && (
          <button type="button" class="danger" aria-label={`${action} ${email}`} onClick={onRemove}>
            {action}
          </button>
        )}
      </td>
    </tr>
  );
}

interface InviteProperties {
  readonly projectId: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function InviteDialog({ projectId, onClose, onDone }: InviteProperties) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<MemberRole>("editor");
  const { isBusy, error, submit } = useSubmit(async () => {
    const { email: invited, mailed } = await inviteMember(projectId, email.trim(), role);
    notify(mailed ? `An invitation is mailed to ${visible(invited)}.` : `${visible(invited)} is invited.`);
    onDone();
  });
  const problem = reasonFor(error, "email", "MEMBER_ALREADY_EXISTS");
  return (
    <FormDialog title="Invite" action="Invite" {...{ isBusy, submit, onClose }}>
      <TextField
        label="E-mail address"
        type="email"
        value={email}
        onInput={setEmail}
        hint="Whoever signs in with this address sees the invitation, for 14 days."
        problem={problem}
        input={{ autoFocus: true, autoComplete: "off", spellcheck: false }}
      />
      <SelectField
        label="Role"
        value={role}
        onChange={(value) => isMemberRole(value) && setRole(value)}
        options={ROLES}
        problem={reasonFor(error, "role")}
      />
      {problem === undefined && <FormProblem error={error} fields={["email", "role"]} />}
    </FormDialog>
  );
}
