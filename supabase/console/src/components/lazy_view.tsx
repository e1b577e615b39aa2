/** A view whose code is loaded when it is first opened. */
import type { FunctionComponent } from "preact";
import { useLoad } from "../state/use_load.ts";
import { Pending } from "./states.tsx";

interface Properties {
  /** Names the view, and is another one for another view. */
  readonly what: string;
  readonly projectId: string;
  readonly load: () => Promise<FunctionComponent<{ readonly projectId: string }>>;
}

export function LazyView({ what, projectId, load }: Properties) {
  const { data: View, error, reload } = useLoad(`view ${what}`, load);
  if (View !== undefined) return <View projectId={projectId} />;
  return (
    <section class="view">
      <Pending {...{ error, reload, what }} />
    </section>
  );
}
