import { useId } from "preact/hooks";
import { SCOPE_MEANINGS } from "./scope_meanings.ts";

interface Properties {
  readonly scopes: readonly string[];
  /** Those that can be ticked; all, if left out. */
  readonly offered?: readonly string[];
  readonly onChange: (scopes: readonly string[]) => void;
  readonly problem: string | undefined;
}

const SCOPES = [["read", "Read"], ["write", "Write"], ["admin", "Admin"]] as const;

export function ScopeFields({ scopes, offered, onChange, problem }: Properties) {
  const id = useId();
  return (
    <fieldset class="field" aria-describedby={problem && id}>
      <legend>Scopes</legend>
      {SCOPES.map(([scope, label]) => (
        <div key={scope}>
          <label class="check">
            <input
              type="checkbox"
              aria-describedby={`${id}-${scope}`}
              checked={scopes.includes(scope)}
              disabled={offered !== undefined && !offered.includes(scope)}
              onChange={({ currentTarget }) =>
                onChange(currentTarget.checked ? [...scopes, scope] : scopes.filter((one) => one !== scope))}
            />
            {label}
          </label>
          <p class="hint" id={`${id}-${scope}`}>{SCOPE_MEANINGS[scope]}</p>
        </div>
      ))}
      {problem && <p class="field-problem" id={id}>{problem}</p>}
    </fieldset>
  );
}
