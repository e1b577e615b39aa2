import { useEffect, useRef, useState } from "preact/hooks";
import { reasonOf } from "../api/failure.ts";
import { Loading } from "../components/states.tsx";
import type { CodeOptions, ComparisonOptions, Mounted } from "./mount.ts";

/**
 * Text with line numbers and highlighting, editable if `onChange` is given. A new `id` mounts a new view. A read-only view
 * with the same `id` follows changes of its options.
 */
export function CodeView({ id, ...options }: CodeOptions & { readonly id: string }) {
  const latest = useRef(options);
  latest.current = options;
  const { text, line, lastLine, goes, firstLine, wraps } = options;
  return (
    <Host
      id={id}
      state={options.onChange ? [] : [text, line, lastLine, goes, firstLine, wraps]}
      update={(mounted) => mounted.update?.(latest.current)}
      mount={async (root) => {
        const { mountCode } = await import("./mount.ts");
        const { onChange, onSave, onLine, ...fixed } = latest.current;
        return await mountCode(root, {
          ...fixed,
          ...(onLine ? { onLine: (...clicked) => latest.current.onLine?.(...clicked) } : {}),
          ...(onChange ? { onChange: (text) => latest.current.onChange?.(text) } : {}),
          ...(onSave ? { onSave: () => latest.current.onSave?.() } : {}),
        });
      }}
    />
  );
}

export function Comparison({ id, ...options }: ComparisonOptions & { readonly id: string }) {
  return (
    <Host
      id={id}
      mount={async (root) => {
        const { mountComparison } = await import("./mount.ts");
        return await mountComparison(root, options);
      }}
    />
  );
}

interface HostProperties {
  readonly id: string;
  readonly mount: (root: ShadowRoot) => Promise<Mounted>;
  /** The values that the mounted view follows; their number must stay the same. */
  readonly state?: readonly unknown[];
  readonly update?: (mounted: Mounted) => void;
}

function Host({ id, mount, state: followed = [], update }: HostProperties) {
  const element = useRef<HTMLDivElement>(null);
  const current = useRef<Mounted | null>(null);
  const [state, setState] = useState<"loading" | "ready" | Error>("loading");
  useEffect(() => {
    const host = element.current;
    if (host === null) return;
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    let mounted: Mounted | undefined;
    let isGone = false;
    setState("loading");
    mount(root).then((view) => {
      if (isGone) return view.destroy();
      mounted = view;
      current.current = view;
      setState("ready");
    }, (error) => setState(error instanceof Error ? error : new Error(String(error))));
    return () => {
      isGone = true;
      mounted?.destroy();
      current.current = null;
    };
  }, [id]);
  useEffect(() => {
    if (state === "ready" && current.current !== null) update?.(current.current);
  }, [state, ...followed]);
  return (
    <>
      {state === "loading" && <Loading what="the text view" />}
      {state instanceof Error && <p class="form-problem" role="alert">{reasonOf(state)}</p>}
      <div class="code" ref={element} />
    </>
  );
}
