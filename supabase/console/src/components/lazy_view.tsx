import { type ComponentChildren, type FunctionComponent, h } from "preact";
import { useLoad } from "../state/use_load.ts";
import { Pending } from "./states.tsx";

interface Properties<Given> {
  /** Identifies the view; a different view has a different value. */
  readonly what: string;
  readonly given: Given;
  readonly load: () => Promise<FunctionComponent<Given>>;
  /** Surrounds what is shown until the view is loaded. */
  readonly around?: FunctionComponent<{ readonly children: ComponentChildren }>;
}

/** A view whose code is loaded when it is first shown. */
export function LazyView<Given extends object>(
  { what, given, load, around: Around = Section }: Properties<Given>,
) {
  const { data: View, error, reload } = useLoad(`view ${what}`, load);
  if (View !== undefined) return h(View, given);
  return (
    <Around>
      <Pending {...{ error, reload, what }} />
    </Around>
  );
}

function Section({ children }: { readonly children: ComponentChildren }) {
  return <section class="view">{children}</section>;
}
