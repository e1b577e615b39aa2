/** Renames, moves or copies a folder with all of its content. */
import { useState } from "preact/hooks";
import { isCode, reasonFor } from "../../api/failure.ts";
import { copyFolder, moveFolder } from "../../api/many.ts";
import { FormDialog, TextField, useSubmit } from "../../components/form.tsx";
import { PathField } from "../../components/path_field.tsx";
import { directoryOf, joinPath, nameOf, visible } from "../../format.ts";
import { describeRefusal, finish, pathsInTheWay, refresh } from "../../state/many.ts";

export type FolderChangeKind = "rename" | "move" | "copy";

interface FolderDialogProperties {
  readonly projectId: string;
  readonly path: string;
  readonly kind: FolderChangeKind;
  /** Copies the folder as it was at this time. */
  readonly at?: string | undefined;
  readonly onClose: () => void;
  readonly onDone?: ((destination: string) => void) | undefined;
}

const WORDS = {
  rename: { title: "Rename", action: "Rename", done: "Renamed", doing: "renaming" },
  move: { title: "Move", action: "Move", done: "Moved", doing: "moving" },
  copy: { title: "Copy", action: "Copy", done: "Copied", doing: "copying" },
} as const;

const HINT =
  "Earlier versions stay at the old paths, under Deleted files; each file's history links to them.";

export function FolderDialog({ projectId, path, kind, at, onClose, onDone }: FolderDialogProperties) {
  const words = WORDS[kind];
  const [text, setText] = useState(
    kind === "rename" ? nameOf(path) : kind === "copy" ? `${path} copy` : path,
  );
  const { isOverwriting, overwrite } = useOverwrite();
  const { isBusy, error, submit } = useSubmit(async () => {
    const clean = text.replace(/^\/+|\/+$/g, "");
    const destination = kind === "rename" ? joinPath(directoryOf(path), clean) : clean;
    const change = { path, destination, overwrite: isOverwriting };
    const done = kind === "copy"
      ? await copyFolder(projectId, change, at)
      : await moveFolder(projectId, change);
    onClose();
    finish(projectId, done, words.done, words.doing);
    refresh(projectId, [path, `${destination}/file`]);
    onDone?.(destination);
  });
  const problem = isCode(error, "INVALID_PATH") ? error.message : reasonFor(error, "destination");
  const field = { value: text, onInput: setText, problem, hint: kind === "copy" ? undefined : HINT };
  return (
    <FormDialog
      title={`${words.title} ${visible(nameOf(path))}`}
      action={words.action}
      {...{ isBusy, submit, onClose }}
    >
      {kind === "rename"
        ? (
          <TextField
            label="New name"
            {...field}
            input={{ autoFocus: true, autoComplete: "off", spellcheck: false }}
          />
        )
        : <PathField projectId={projectId} label="New path" {...field} isFolder autoFocus />}
      {problem === undefined && <InTheWay {...{ error, isOverwriting, overwrite }} />}
    </FormDialog>
  );
}

export function useOverwrite() {
  const [isOverwriting, overwrite] = useState(false);
  return { isOverwriting, overwrite };
}

interface InTheWayProperties extends ReturnType<typeof useOverwrite> {
  readonly error: unknown;
}

/** Explains why files were not moved or copied, and offers to overwrite existing files at the destination. */
export function InTheWay({ error, isOverwriting, overwrite }: InTheWayProperties) {
  const isInTheWay = isCode(error, "FILE_ALREADY_EXISTS");
  if (error === undefined && !isOverwriting) return null;
  const paths = pathsInTheWay(error);
  return (
    <>
      {error !== undefined && (
        <div class="form-problem" role="alert">
          <p>{isInTheWay ? "Nothing was changed: these files already exist." : describeRefusal(error)}</p>
          {paths.length > 0 && (
            <ul class="paths">{paths.map((path) => <li key={path}>{visible(path)}</li>)}</ul>
          )}
        </div>
      )}
      {(isInTheWay || isOverwriting) && (
        <label class="check">
          <input
            type="checkbox"
            checked={isOverwriting}
            onChange={({ currentTarget }) => overwrite(currentTarget.checked)}
          />
          Overwrite them; their earlier versions stay in history
        </label>
      )}
    </>
  );
}
