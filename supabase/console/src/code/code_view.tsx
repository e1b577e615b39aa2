/** @jsxImportSource preact */
/// <reference lib="dom" />
import { useEffect, useRef, useState } from "preact/hooks";
import { reasonOf } from "../api/failure.ts";
import { Loading } from "../components/states.tsx";
import type { CodeOptions, ComparisonOptions, Mounted } from "./mount.ts";

/**
 * Text with line numbers and highlighting, editable if `onChange` is given. A new `id` mounts a new view; a new text is
 * taken into the one that is there, which stays where it is scrolled to, unless it is edited.
 */
export function CodeView({ id, ...options }: CodeOptions & { readonly id: string }) {
  const latest = useRef(options);
  latest.current = options;
  return (
    <Host
      id={id}
      text={options.onChange === undefined ? options.text : undefined}
      mount={async (root) => {
        const { mountCode } = await import("./mount.ts");
        const { onChange, onSave, ...fixed } = latest.current;
        return await mountCode(root, {
          ...fixed,
          ...(onChange ? { onChange: (text) => latest.current.onChange?.(text) } : {}),
          ...(onSave ? { onSave: () => latest.current.onSave?.() } : {}),
        });
      }}
    />
  );
}

/** Two texts side by side. */
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
  /** What it shows, if that may change. */
  readonly text?: string | undefined;
  readonly mount: (root: ShadowRoot) => Promise<Mounted>;
}

function Host({ id, text, mount }: HostProperties) {
  const element = useRef<HTMLDivElement>(null);
  const shown = useRef<Mounted | null>(null);
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
      shown.current = mounted = view;
      setState("ready");
    }, (error) => setState(error instanceof Error ? error : new Error(String(error))));
    return () => {
      isGone = true;
      shown.current = null;
      mounted?.destroy();
    };
  }, [id]);
  useEffect(() => {
    if (state === "ready" && text !== undefined) shown.current?.show?.(text);
  }, [state, text]);
  return (
    <>
      {state === "loading" && <Loading what="the text view" />}
      {state instanceof Error && <p class="form-problem" role="alert">{reasonOf(state)}</p>}
      <div class="code" ref={element} />
    </>
  );
}
