/** Controls of what the signed-in person may do in the open project; the others are not shown. */
import type { ComponentChildren } from "preact";
import { may, type Right } from "../state/projects.ts";

export function Allowed(
  { right, children }: { readonly right: Right; readonly children: ComponentChildren },
) {
  return may(right) ? <>{children}</> : null;
}
