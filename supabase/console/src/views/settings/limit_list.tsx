/** Limits in plain words: what each is about, how much it is, and what happens at it and raises it. */
export interface Limit {
  readonly name: string;
  readonly value: string;
  readonly meaning: string;
}

export function LimitList({ limits }: { readonly limits: readonly Limit[] }) {
  return (
    <dl class="limits">
      {limits.map(({ name, value, meaning }) => (
        <div key={name}>
          <dt>
            {name} <strong>{value}</strong>
          </dt>
          <dd>{meaning}</dd>
        </div>
      ))}
    </dl>
  );
}
