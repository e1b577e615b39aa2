import type { NewKey } from "../../api/records.ts";
import { Age } from "../../components/age.tsx";
import { Icon } from "../../components/icon.tsx";
import { hrefOf } from "../../state/router.ts";
import { useFirstCall } from "./use_first_call.ts";

interface Properties {
  readonly projectId: string;
  readonly made: NewKey;
}

/** Waits for the first call with the key, and turns green. */
export function FirstCall({ projectId, made }: Properties) {
  const { calledAt, hasGivenUp, lookAgain } = useFirstCall(projectId, made.id);
  const title = made.name || `${made.prefix}…`;
  return (
    <div class={calledAt === null ? "first-call" : "first-call called"} role="status">
      {calledAt !== null
        ? (
          <>
            <Icon name="check" />
            <p>
              <strong>{title}</strong> is connected. It last called <Age iso={calledAt} />:{" "}
              <a href={hrefOf({ name: "activity", projectId, keyId: made.id })}>what it has written</a>.
            </p>
          </>
        )
        : hasGivenUp
        ? (
          <>
            <p>No call with {title} yet.</p>
            <button type="button" onClick={lookAgain}>Look again</button>
          </>
        )
        : (
          <>
            <span class="pulse" aria-hidden="true" />
            <p>
              Waiting for the first call with <strong>{title}</strong> …
            </p>
          </>
        )}
    </div>
  );
}
