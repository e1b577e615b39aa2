/** Links: addresses that read one file, or write it once, without a key. Creates, shows, lists and revokes them. */
import { useState } from "preact/hooks";
import { reasonFor, reasonOf } from "../api/failure.ts";
import { createLink, type Link, type NewLink, revokeLink } from "../api/links.ts";
import { formatTime, nameOf, visible } from "../format.ts";
import { LINK_SECONDS_DEFAULT, LINK_SECONDS_MAX } from "../limits.ts";
import { notify, notifyProblem } from "../state/notices.ts";
import { CopyField } from "./copy.tsx";
import { FormProblem, SelectField, useSubmit } from "./form.tsx";
import { PathField } from "./path_field.tsx";

type Purpose = Link["for"];

/** Lifetimes in seconds, with their texts. The API limits a link for writing to one hour. */
const LIFETIMES: Readonly<Record<Purpose, readonly (readonly [number, string])[]>> = {
  read: [
    [600, "10 minutes"],
    [LINK_SECONDS_DEFAULT, "1 hour"],
    [86_400, "1 day"],
    [LINK_SECONDS_MAX, "7 days"],
  ],
  write: [[600, "10 minutes"], [1_800, "30 minutes"], [LINK_SECONDS_DEFAULT, "1 hour"]],
};

interface FormProperties {
  readonly projectId: string;
  /** Undefined: a field asks for it. */
  readonly path?: string | undefined;
  /** The version on screen; a link can be limited to it. */
  readonly version?: number | undefined;
  readonly onMade: (link: NewLink) => void;
}

export function LinkForm({ projectId, path: given, version, onMade }: FormProperties) {
  const [path, setPath] = useState(given ?? "");
  const [purpose, setPurpose] = useState<Purpose>("read");
  const [expiresIn, setExpiresIn] = useState(LINK_SECONDS_DEFAULT);
  const [isPinned, setPinned] = useState(false);
  const { isBusy, error, submit } = useSubmit(async () => {
    const pinned = purpose === "read" && isPinned ? version : undefined;
    onMade(await createLink(projectId, { path, for: purpose, expiresIn, version: pinned }));
  });
  const problem = reasonFor(error, "path", "INVALID_PATH", "FILE_NOT_FOUND");
  return (
    <form class="link-form" onSubmit={submit} noValidate>
      {given === undefined && (
        <PathField
          projectId={projectId}
          label="File"
          value={path}
          onInput={setPath}
          hint="For uploads, the file may not exist yet."
          problem={problem}
        />
      )}
      <div class="link-choices">
        <SelectField
          label="Permission"
          value={purpose}
          onChange={(value) => {
            setPurpose(value === "write" ? "write" : "read");
            setExpiresIn(LINK_SECONDS_DEFAULT);
          }}
          options={[["read", "Read the file"], ["write", "Write one version"]]}
        />
        <SelectField
          label="Expires in"
          value={String(expiresIn)}
          onChange={(value) => setExpiresIn(Number(value))}
          options={LIFETIMES[purpose].map(([seconds, text]) => [String(seconds), text])}
        />
      </div>
      {purpose === "read" && version !== undefined && (
        <label class="check">
          <input
            type="checkbox"
            checked={isPinned}
            onChange={({ currentTarget }) => setPinned(currentTarget.checked)}
          />
          Only version {version}, not later ones
        </label>
      )}
      {(given !== undefined || problem === undefined) && <FormProblem error={error} fields={["path"]} />}
      <button type="submit" class="primary" disabled={isBusy || path === ""}>Create link</button>
    </form>
  );
}

/** Shows the address of a new link. It is shown only this once. */
export function MadeLink({ made }: { readonly made: NewLink }) {
  const { url, curl, method, expiresAt } = made;
  return (
    <div class="made-link">
      <p class="note" role="status">
        Copy the address now; it will not be shown again. Anyone who has it can{" "}
        {method === "GET" ? "read" : "write"} the file until {formatTime(expiresAt)}.
      </p>
      <CopyField label="Address" text={url} what="the address" rows={3} />
      <CopyField label="In a terminal" text={curl} what="the command" rows={3} />
    </div>
  );
}

interface EndProperties {
  readonly projectId: string;
  readonly link: Link;
  readonly onEnded: () => void;
}

export function EndLink({ projectId, link: { id, path, for: purpose, expiresAt }, onEnded }: EndProperties) {
  const end = async () => {
    try {
      await revokeLink(projectId, id);
      notify(`Revoked the link to ${nameOf(path)}.`);
    } catch (error) {
      notifyProblem(`The link to ${nameOf(path)} could not be revoked. ${reasonOf(error)}`);
    }
    onEnded();
  };
  return (
    <button
      type="button"
      class="danger"
      aria-label={`Revoke the ${purpose} link to ${visible(path)} that expires ${formatTime(expiresAt)}`}
      onClick={end}
    >
      Revoke
    </button>
  );
}

/** Describes a link: `read`, `read version 3`, `write once`. */
export function describeLink({ for: purpose, version }: Link): string {
  if (purpose === "write") return "write once";
  return version === undefined ? "read" : `read version ${version}`;
}
