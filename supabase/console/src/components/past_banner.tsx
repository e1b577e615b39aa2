/** Tells that a view shows the past, and links to another time and to the present. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { formatSeconds } from "../format.ts";
import { goTo, hrefOf, type Place } from "../state/router.ts";
import { TimeDialog } from "./time_dialog.tsx";

interface Properties {
  readonly at: string;
  /** Returns the same place at another time, or now. */
  readonly placeAt: (at: string | undefined) => Place;
  readonly children?: ComponentChildren;
}

export function PastBanner({ at, placeAt, children }: Properties) {
  const [isChoosing, setChoosing] = useState(false);
  return (
    <div class="past-banner" role="note" aria-label="The past">
      <p>
        You're viewing the project as of{" "}
        <time dateTime={at}>
          <strong>{formatSeconds(at)}</strong>
        </time>. Nothing can be changed here.
      </p>
      <div class="tools">
        {children}
        <button type="button" onClick={() => setChoosing(true)}>Another time …</button>
        <a class="button" href={hrefOf(placeAt(undefined))}>Back to now</a>
      </div>
      {isChoosing && (
        <TimeDialog
          title="View another time"
          start={at}
          onChoose={(time) => goTo(placeAt(time))}
          onClose={() => setChoosing(false)}
        />
      )}
    </div>
  );
}
