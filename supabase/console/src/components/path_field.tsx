/** A field for a path of the project, with suggestions of existing paths. */
import { useId } from "preact/hooks";
import { cursorBefore, listFiles } from "../api/files.ts";
import { directoryOf, joinPath, nameOf } from "../format.ts";
import { SUGGESTIONS_MAX } from "../limits.ts";
import { useLoad, useSettled } from "../state/use_load.ts";
import { Field } from "./form.tsx";

interface Properties {
  readonly projectId: string;
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** Called on blur and Enter, and when Enter chooses a suggestion. */
  readonly onChange?: (value: string) => void;
  readonly hint?: string | undefined;
  readonly problem?: string | undefined;
  /** Suggests folders only. */
  readonly isFolder?: boolean;
  readonly autoFocus?: boolean;
}

export function PathField(
  { projectId, label, value, onInput, onChange, hint, problem, isFolder = false, autoFocus }: Properties,
) {
  const id = useId();
  const settled = useSettled(value);
  const { data: suggested = [] } = useLoad(
    `suggest ${projectId} ${isFolder} ${settled}`,
    (signal) => suggestions(projectId, settled, isFolder, signal),
  );
  return (
    <Field {...{ label, hint, problem }}>
      {(attributes) => (
        <>
          <input
            {...attributes}
            type="text"
            list={id}
            value={value}
            autoComplete="off"
            spellcheck={false}
            autoFocus={autoFocus}
            onInput={({ currentTarget }) => onInput(currentTarget.value)}
            onChange={({ currentTarget }) => onChange?.(currentTarget.value)}
          />
          <datalist id={id}>
            {suggested.map((path) => <option key={path} value={path} />)}
          </datalist>
        </>
      )}
    </Field>
  );
}

/**
 * Returns the paths that begin with the text, within the folder it names. A folder ends in a slash, so that typing can
 * continue.
 */
async function suggestions(
  projectId: string,
  text: string,
  isFolder: boolean,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const [directory, prefix] = [directoryOf(text), nameOf(text)];
  const after = prefix === "" ? undefined : cursorBefore(directory, prefix);
  const limit = isFolder ? 1 : SUGGESTIONS_MAX;
  try {
    const { files, directories = [] } = await listFiles(projectId, { directory, after, limit }, signal);
    const folders = directories.filter((name) => name.startsWith(prefix)).map((name) =>
      joinPath(directory, name)
    );
    if (isFolder) return folders.slice(0, SUGGESTIONS_MAX);
    const found = files.map(({ path }) => path).filter((path) => path.startsWith(text));
    return [...folders.map((path) => `${path}/`), ...found].slice(0, SUGGESTIONS_MAX);
  } catch (error) {
    if (signal.aborted) throw error;
    // A half-typed path may be invalid.
    return [];
  }
}
