/** @jsxImportSource preact */
/// <reference lib="dom" />
import { useId } from "preact/hooks";

interface Properties {
  readonly scopes: readonly string[];
  /** Those that can be ticked; all, if left out. */
  readonly offered?: readonly string[];
  readonly onChange: (scopes: readonly string[]) => void;
  readonly problem: string | undefined;
}

const SCOPES = [
  ["read", "Read", "read and list files"],
  ["write", "Write", "write, delete, restore, move"],
  ["admin", "Admin", "manage the project's keys"],
] as const;

export function ScopeFields({ scopes, offered, onChange, problem }: Properties) {
  const id = useId();
  return (
    <fieldset class="field" aria-describedby={problem && id}>
      <legend>Scopes</legend>
      {SCOPES.map(([scope, label, meaning]) => (
        <label key={scope} class="check">
          <input
            type="checkbox"
            checked={scopes.includes(scope)}
            disabled={offered !== undefined && !offered.includes(scope)}
            onChange={({ currentTarget }) =>
              onChange(currentTarget.checked ? [...scopes, scope] : scopes.filter((one) => one !== scope))}
          />
          {label} <span class="hint">{meaning}</span>
        </label>
      ))}
      {problem && <p class="field-problem" id={id}>{problem}</p>}
    </fieldset>
  );
}
