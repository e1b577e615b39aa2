import { hrefOf } from "../state/router.ts";
import { Name } from "./name.tsx";

interface Properties {
  readonly projectId: string;
  /** The path of a folder or a file. */
  readonly path: string;
  /** Links to the folders as they were at this time. */
  readonly at?: string | undefined;
}

/** Links to the parent folders. The last part is the heading of the page. */
export function Breadcrumbs({ projectId, path, at }: Properties) {
  const names = ["Files", ...path === "" ? [] : path.split("/")];
  const directoryAt = (depth: number) => names.slice(1, depth + 1).join("/");
  return (
    <nav class="breadcrumbs" aria-label="Breadcrumbs">
      <ol>
        {names.map((name, depth) => (
          <li key={depth}>
            {depth === names.length - 1
              ? (
                <h1>
                  <Name text={name} />
                </h1>
              )
              : (
                <a href={hrefOf({ name: "files", projectId, directory: directoryAt(depth), at })}>
                  <Name text={name} />
                </a>
              )}
          </li>
        ))}
      </ol>
    </nav>
  );
}
