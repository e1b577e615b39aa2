/** Why files were not moved or copied; for those in the way at the destination, the offer to write over them. */
import { useState } from "preact/hooks";
import { isCode } from "../../api/failure.ts";
import { visible } from "../../format.ts";
import { describeRefusal, pathsInTheWay } from "../../state/many.ts";

export function useOverwrite() {
  const [isOverwriting, overwrite] = useState(false);
  return { isOverwriting, overwrite };
}

interface Properties extends ReturnType<typeof useOverwrite> {
  readonly error: unknown;
}

export function InTheWay({ error, isOverwriting, overwrite }: Properties) {
  const isInTheWay = isCode(error, "FILE_ALREADY_EXISTS");
  if (error === undefined && !isOverwriting) return null;
  const paths = pathsInTheWay(error);
  return (
    <>
      {error !== undefined && (
        <div class="form-problem" role="alert">
          <p>{isInTheWay ? "Nothing was changed: there are files in the way." : describeRefusal(error)}</p>
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
          Write over them: what was there stays in their history
        </label>
      )}
    </>
  );
}
