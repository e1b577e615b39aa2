import { visible } from "../format.ts";
import { hrefOf } from "../state/router.ts";

interface Properties {
  readonly projectId: string;
  /** Of a folder, or of a file. */
  readonly path: string;
  /** Leads to the folders as they were then. */
  readonly at?: string | undefined;
}

/** Links to the parent folders; the last part is the heading of the page. */
export function Breadcrumbs({ projectId, path, at }: Properties) {
  const parts = path === "" ? [] : path.split("/");
  const last = parts.at(-1);
  return (
    <nav class="breadcrumbs" aria-label="Breadcrumbs">
      <ol>
        {last === undefined
          ? (
            <li>
              <h1>Files</h1>
            </li>
          )
          : (
            <li>
              <a href={hrefOf({ name: "files", projectId, directory: "", at })}>Files</a>
            </li>
          )}
        {parts.slice(0, -1).map((part, index) => {
          const directory = parts.slice(0, index + 1).join("/");
          return (
            <li key={directory}>
              <a href={hrefOf({ name: "files", projectId, directory, at })}>{visible(part)}</a>
            </li>
          );
        })}
        {last !== undefined && (
          <li>
            <h1>{visible(last)}</h1>
          </li>
        )}
      </ol>
    </nav>
  );
}
