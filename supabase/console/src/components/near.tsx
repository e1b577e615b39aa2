import { directoryOf, nameOf, visible } from "../format.ts";
import { hrefOf } from "../state/router.ts";

/** Links from a path where nothing is to what is near: the folder above, and the deleted files. */
export function Near({ projectId, path }: { readonly projectId: string; readonly path: string }) {
  const directory = directoryOf(path);
  return (
    <p>
      <a href={hrefOf({ name: "files", projectId, directory })}>
        Open {directory === "" ? "the project's files" : `the folder ${visible(nameOf(directory))}`}
      </a>
      , or look in the <a href={hrefOf({ name: "deleted", projectId })}>deleted files</a>.
    </p>
  );
}
