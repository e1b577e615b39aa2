/** What a view shows while it loads, if it is empty, and after a failure. */
import type { ComponentChildren } from "preact";
import { isCode, reasonOf } from "../api/failure.ts";
import { Icon, type IconName } from "./icon.tsx";

export function Loading({ what }: { readonly what: string }) {
  return <p class="loading" role="status">Loading {what} …</p>;
}

interface PendingProperties {
  readonly error: unknown;
  readonly reload?: (() => void) | undefined;
  readonly what: string;
}

/** A placeholder: shows that something is loading, or why it could not be loaded. */
export function Pending({ error, reload, what }: PendingProperties) {
  return error === undefined ? <Loading what={what} /> : <Problem error={error} onRetry={reload} />;
}

interface EmptyProperties {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
}

export function Empty({ icon, title, children }: EmptyProperties) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

interface ProblemProperties {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
}

export function Problem({ error, onRetry }: ProblemProperties) {
  // The banner shows a lost connection; the view reloads automatically.
  const hint = isCode(error, "OFFLINE") ? " This view reloads when the connection is back." : "";
  return (
    <div class="problem" role="alert">
      <p>{reasonOf(error)}{hint}</p>
      {onRetry && <button type="button" onClick={onRetry}>Try again</button>}
    </div>
  );
}
