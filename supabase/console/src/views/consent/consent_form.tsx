/** What the person lets the app do, and the two answers. */
import { useState } from "preact/hooks";
import { isUnfinished, listBranches } from "../../api/branches.ts";
import { answerApp, type AppRequest, type AppScope, type Grant } from "../../api/consent.ts";
import { isCode, reasonFor } from "../../api/failure.ts";
import { FormProblem, SelectField, useSubmit } from "../../components/form.tsx";
import { PathField } from "../../components/path_field.tsx";
import { visible } from "../../format.ts";
import { preferredProject, projects } from "../../state/projects.ts";
import { useLoad } from "../../state/use_load.ts";
import { useArmed } from "./use_armed.ts";
import { WhatItCan } from "./who_asks.tsx";

interface Properties {
  readonly request: string;
  readonly asked: AppRequest;
  readonly onAnswered: (redirectTo: string) => void;
  /** Called if the request can be answered no more. */
  readonly onEnded: () => void;
}

interface Choice {
  readonly projectId: string;
  /** Those of `SCOPES`. */
  readonly scopes: string;
  readonly pathPrefix: string;
  /** Empty: without an end. */
  readonly days: string;
}

const ALL: readonly AppScope[] = ["read", "write"];
const SCOPES: Readonly<Record<string, string>> = {
  "read write": "read and write files",
  read: "only read files",
  write: "only write files",
};
const DURATIONS = [
  ["", "until I revoke it"],
  ["1", "for one day"],
  ["7", "for 7 days"],
  ["30", "for 30 days"],
  ["365", "for a year"],
] as const;
const FIELDS = ["projectId", "scopes", "pathPrefix", "expiresAt"];

/**
 * It is no form, so that Enter in a field answers nothing. Both answers are buttons of the same size, and neither has the
 * focus.
 */
export function ConsentForm({ request, asked, onAnswered, onEnded }: Properties) {
  const [choice, setChoice] = useState<Choice>({
    projectId: preferredProject()?.id ?? "",
    scopes: scopeChoices(asked.scopes)[0] ?? "",
    pathPrefix: "",
    days: "",
  });
  const isArmed = useArmed();
  const answer = async (grant?: Grant) => {
    try {
      onAnswered(await answerApp(request, grant));
    } catch (error) {
      if (!isCode(error, "REQUEST_NOT_FOUND")) throw error;
      onEnded();
    }
  };
  const allow = useSubmit(() => answer(grantOf(choice)));
  const deny = useSubmit(() => answer());
  const isBusy = allow.isBusy || deny.isBusy;
  const mayAllow = isArmed && !isBusy && choice.projectId !== "";
  return (
    <>
      {choice.projectId !== "" && <Choices {...{ asked, choice, setChoice }} error={allow.error} />}
      <FormProblem error={allow.error ?? deny.error} fields={FIELDS} />
      <div class="answers">
        <button type="button" disabled={isBusy} onClick={deny.submit}>Deny</button>
        <button type="button" disabled={!mayAllow} onClick={allow.submit}>Allow</button>
      </div>
    </>
  );
}

interface ChoicesProperties extends Pick<Properties, "asked"> {
  readonly choice: Choice;
  readonly setChoice: (choice: Choice) => void;
  readonly error: unknown;
}

function Choices({ asked, choice, setChoice, error }: ChoicesProperties) {
  const field = (name: keyof Choice, reported: string = name) => ({
    value: choice[name],
    onChange: (value: string) => setChoice({ ...choice, [name]: value }),
    problem: reasonFor(error, reported),
  });
  const { onChange: onInput, ...folder } = field("pathPrefix");
  return (
    <>
      <SelectField
        label="Project"
        options={(projects.value ?? []).map(({ id, name }) => [id, visible(name)])}
        {...field("projectId")}
      />
      <SelectField
        label="Permission"
        options={scopeChoices(asked.scopes).map((scopes) => [scopes, SCOPES[scopes] ?? ""])}
        {...field("scopes")}
      />
      <PathField
        projectId={choice.projectId}
        label="Only in this folder"
        hint="Optional. Empty: the whole project."
        isFolder
        onInput={onInput}
        {...folder}
      />
      <BranchField projectId={choice.projectId} value={choice.pathPrefix} onChange={onInput} />
      <SelectField label="How long" options={DURATIONS} {...field("days", "expiresAt")} />
      <WhatItCan scopes={scopesOf(choice)} pathPrefix={choice.pathPrefix} />
    </>
  );
}

interface BranchProperties {
  readonly projectId: string;
  /** The folder that the person has chosen. */
  readonly value: string;
  readonly onChange: (pathPrefix: string) => void;
}

/** Fills in the folder of a branch, in which the app changes nothing outside until the person merges. */
function BranchField({ projectId, value, onChange }: BranchProperties) {
  const { data } = useLoad(`branches ${projectId}`, (signal) => listBranches(projectId, {}, signal));
  const branches = (data?.branches ?? []).filter(isUnfinished);
  // Without them, the folder is the whole choice.
  if (branches.length === 0) return null;
  return (
    <SelectField
      label="Only in this branch"
      value={branches.find(({ path }) => path === value)?.path ?? ""}
      onChange={onChange}
      options={[
        ["", "no branch"],
        ...branches.map(({ path, name, title }) =>
          [path, title ? `${name}: ${visible(title)}` : name] as const
        ),
      ]}
    />
  );
}

/** What was asked for, and, if that is to read and write, only to read. */
function scopeChoices(asked: readonly AppScope[]): readonly string[] {
  const all = ALL.filter((scope) => asked.includes(scope));
  return all.length === 2 ? [all.join(" "), "read"] : [all.join(" ")];
}

function scopesOf({ scopes }: Choice): readonly AppScope[] {
  return ALL.filter((scope) => scopes.split(" ").includes(scope));
}

function grantOf(choice: Choice): Grant {
  const { projectId, pathPrefix, days } = choice;
  const expiresAt = days === "" ? undefined : new Date(Date.now() + Number(days) * 86_400_000).toISOString();
  return { projectId, scopes: scopesOf(choice), pathPrefix: pathPrefix || undefined, expiresAt };
}
