/** Loaded data with later changes. */
import { useReducer, useRef } from "preact/hooks";

/** Returns the data and a function that changes it; data that is loaded anew takes the place of both. */
export function usePatched<T>(loaded: T): [T, (change: (before: T) => T) => void] {
  const state = useRef({ loaded, current: loaded });
  const [, draw] = useReducer<number, void>((count) => count + 1, 0);
  if (state.current.loaded !== loaded) state.current = { loaded, current: loaded };
  const patch = useRef((change: (before: T) => T) => {
    const next = change(state.current.current);
    if (next === state.current.current) return;
    state.current = { ...state.current, current: next };
    draw();
  });
  return [state.current.current, patch.current];
}
