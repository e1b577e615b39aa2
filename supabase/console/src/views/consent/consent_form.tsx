/** What the person lets the app do, and the two answers. */
import { useState } from "preact/hooks";
import { answerApp, type AppRequest, type AppScope, type Grant } from "../../api/consent.ts";
import { isCode, reasonFor } from "../../api/failure.ts";
import { FormProblem, SelectField, useSubmit } from "../../components/form.tsx";
import { PathField } from "../../components/path_field.tsx";
import { visible } from "../../format.ts";
import { preferredProject, projects } from "../../state/projects.ts";
import { useArmed } from "./use_armed.ts";
import { WhatItCan } from "./who_asks.tsx";

interface Properties {
  readonly request: string;
  readonly asked: AppRequest;
  readonly onAnswered: (redirectTo: string) => void;
  /** Called if the request can be answered no more. */
  readonly onEnded: () => void;
}

const SCOPES: Readonly<Record<string, string>> = {
  "read write": "read and write files",
  read: "only read files",
  write: "only write files",
};
/** In days. */
const DURATIONS = [
  ["", "until I revoke it"],
  ["1", "for one day"],
  ["7", "for 7 days"],
  ["30", "for 30 days"],
  ["365", "for a year"],
] as const;
const FIELDS = ["projectId", "scopes", "pathPrefix", "expiresAt"];

/**
 * It is no form, so that Enter in a field answers nothing. Both answers are buttons of the same form, and neither has the
 * focus.
 */
export function ConsentForm({ request, asked, onAnswered, onEnded }: Properties) {
  const choices = scopeChoices(asked.scopes);
  const [projectId, setProjectId] = useState(preferredProject()?.id ?? "");
  const [scopes, setScopes] = useState(choices[0]?.join(" ") ?? "");
  const [pathPrefix, setPathPrefix] = useState("");
  const [days, setDays] = useState("");
  const isArmed = useArmed();
  const chosen = choices.find((choice) => choice.join(" ") === scopes) ?? [];
  const answer = async (grant?: Grant) => {
    try {
      onAnswered(await answerApp(request, grant));
    } catch (error) {
      if (!isCode(error, "REQUEST_NOT_FOUND")) throw error;
      onEnded();
    }
  };
  const allow = useSubmit(async () => {
    const grant = { projectId, scopes: chosen, pathPrefix: pathPrefix || undefined, expiresAt: inDays(days) };
    await answer(grant);
  });
  const deny = useSubmit(() => answer());
  const { error } = allow;
  const isBusy = allow.isBusy || deny.isBusy;
  return (
    <>
      {projects.value?.length === 0 ? null : (
        <>
          <SelectField
            label="Project"
            value={projectId}
            onChange={setProjectId}
            options={(projects.value ?? []).map(({ id, name }) => [id, visible(name)])}
            problem={reasonFor(error, "projectId")}
          />
          <SelectField
            label="It may"
            value={scopes}
            onChange={setScopes}
            options={choices.map((choice) => [choice.join(" "), SCOPES[choice.join(" ")] ?? ""])}
            problem={reasonFor(error, "scopes")}
          />
          <PathField
            projectId={projectId}
            label="Only in this folder"
            value={pathPrefix}
            onInput={setPathPrefix}
            hint="Optional. Empty: the whole project."
            problem={reasonFor(error, "pathPrefix")}
            isFolder
          />
          <SelectField
            label="How long"
            value={days}
            onChange={setDays}
            options={DURATIONS}
            problem={reasonFor(error, "expiresAt")}
          />
          <WhatItCan scopes={chosen} pathPrefix={pathPrefix} />
        </>
      )}
      <FormProblem error={error ?? deny.error} fields={FIELDS} />
      <div class="answers">
        <button type="button" disabled={isBusy} onClick={deny.submit}>Deny</button>
        <button
          type="button"
          disabled={isBusy || !isArmed || projectId === ""}
          onClick={allow.submit}
        >
          Allow
        </button>
      </div>
    </>
  );
}

/** What was asked for, and, if that is to read and write, only to read. */
function scopeChoices(asked: readonly AppScope[]): readonly (readonly AppScope[])[] {
  const all = (["read", "write"] as const).filter((scope) => asked.includes(scope));
  return all.length === 2 ? [all, ["read"]] : [all];
}

function inDays(days: string): string | undefined {
  return days === "" ? undefined : new Date(Date.now() + Number(days) * 86_400_000).toISOString();
}
