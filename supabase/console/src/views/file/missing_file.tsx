/** Shown at a path without a file: what is near, and a button that creates the file. */
import { Allowed } from "../../components/allowed.tsx";
import { createFile, listFiles } from "../../api/files.ts";
import { FormProblem, useSubmit } from "../../components/form.tsx";
import { Icon } from "../../components/icon.tsx";
import { Near } from "../../components/near.tsx";
import { Empty } from "../../components/states.tsx";
import { endUndo } from "../../state/notices.ts";
import { goTo, hrefOf } from "../../state/router.ts";
import { useLoad } from "../../state/use_load.ts";

interface Properties {
  readonly projectId: string;
  readonly path: string;
  readonly onMade: () => void;
}

export function MissingFile({ projectId, path, onMade }: Properties) {
  // A link in a document may lead to a folder without the slash that says so.
  const { data: isFolder = false } = useLoad(`folder ${projectId} ${path}`, async (signal) => {
    const { files, directories = [] } = await listFiles(projectId, { directory: path, limit: 1 }, signal);
    return files.length + directories.length > 0;
  });
  const { isBusy, error, submit } = useSubmit(async () => {
    await createFile({ projectId, path });
    endUndo({ projectId, path });
    onMade();
    goTo({ name: "file", projectId, path, tab: "edit" });
  });
  return (
    <Empty icon="file" title="There is no file at this path.">
      {isFolder
        ? (
          <p>
            It is the path of a folder.{" "}
            <a href={hrefOf({ name: "files", projectId, directory: path })}>Open the folder</a>
          </p>
        )
        : (
          <Allowed right="write">
            <button type="button" disabled={isBusy} onClick={submit}>
              <Icon name="plus" />Create it here
            </button>
          </Allowed>
        )}
      <FormProblem error={error} fields={[]} />
      <Near {...{ projectId, path }} />
    </Empty>
  );
}
