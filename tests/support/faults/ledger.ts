/**
 * Which request created which version. Clients record their requests and the answers. Afterwards each version of each
 * file must be the result of exactly one request, and each acknowledged request must have its version.
 */

export type Operation =
  | { readonly kind: "write" | "overwrite" | "append"; readonly path: string; readonly text: string }
  | { readonly kind: "edit"; readonly path: string; readonly oldString: string; readonly newString: string }
  | { readonly kind: "delete"; readonly path: string }
  | { readonly kind: "restore"; readonly path: string; readonly version: number }
  | { readonly kind: "copy" | "move"; readonly path: string; readonly destination: string };

/** A request that was not refused. */
export interface Entry {
  readonly operation: Operation;
  /** The version that the answer named; undefined: there was no answer, so the request may have been done or not. */
  readonly version: number | undefined;
}

/** Maps each path to its versions, from version 1; null is a tombstone. */
export type Histories = ReadonlyMap<string, readonly (string | null)[]>;

/** The contradictions between entries and histories; empty if the promise is kept. */
export function contradictions(entries: readonly Entry[], histories: Histories): string[] {
  const found: string[] = [];
  const made = new Map<string, Entry>();
  for (const entry of entries) {
    const { operation, version } = entry;
    if (version === undefined) continue;
    const place = placeOf(targetOf(operation), version);
    if (made.has(place)) found.push(`${place} was acknowledged twice`);
    if (!makes(operation, version, histories)) found.push(`${place} is not what ${show(operation)} makes`);
    made.set(place, entry);
  }
  const unknown = entries.filter(({ version }) => version === undefined);
  const unclaimed = [...histories].flatMap(([path, versions]) =>
    versions.map((content, index) => ({ path, version: index + 1, content }))
      .filter(({ version }) => !made.has(placeOf(path, version)))
  );
  const matched = match(
    unclaimed.filter(({ content }) => content !== null),
    unknown.filter(({ operation }) => operation.kind !== "delete"),
    ({ path, version }, { operation }) =>
      targetOf(operation) === path && makes(operation, version, histories),
  );
  found.push(...matched.without.map(({ path, version }) => `nobody made ${placeOf(path, version)}`));
  return [
    ...found,
    ...tombstoneContradictions(
      unclaimed.filter(({ content }) => content === null),
      [
        ...[...made].map(([, { operation, version }]) => ({ operation, version })),
        ...[...matched.pairs].map(([{ version }, { operation }]) => ({ operation, version })),
      ],
      unknown,
      histories,
    ),
  ];
}

/** Each committed move has left a tombstone at its source; the remaining tombstones are deletions without an answer. */
function tombstoneContradictions(
  tombstones: readonly { path: string; version: number }[],
  landed: readonly Entry[],
  unknown: readonly Entry[],
  histories: Histories,
): string[] {
  const moves = landed.filter(({ operation }) => operation.kind === "move");
  const { pairs, without } = match(moves, tombstones, ({ operation, version }, tombstone) => {
    const moved = histories.get(targetOf(operation))?.[(version ?? 0) - 1];
    return operation.path === tombstone.path &&
      histories.get(tombstone.path)?.[tombstone.version - 2] === moved;
  });
  const taken = new Set(pairs.values());
  const left = match(
    tombstones.filter((tombstone) => !taken.has(tombstone)),
    unknown.filter(({ operation }) => operation.kind === "delete"),
    ({ path }, { operation }) => operation.path === path,
  );
  return [
    ...without.map(({ operation }) => `${show(operation)} left no tombstone`),
    ...left.without.map(({ path, version }) => `nobody deleted ${placeOf(path, version)}`),
  ];
}

/** Whether the operation, applied to the version before, gives this version. */
function makes(operation: Operation, version: number, histories: Histories): boolean {
  const versions = histories.get(targetOf(operation)) ?? [];
  const content = versions[version - 1];
  const before = versions[version - 2];
  if (content === undefined) return false;
  switch (operation.kind) {
    case "write":
    case "overwrite":
      return content === operation.text;
    case "append":
      return typeof before === "string" && content === before + operation.text;
    case "edit":
      return typeof before === "string" && before.split(operation.oldString).length === 2 &&
        content === before.replace(operation.oldString, () => operation.newString);
    case "delete":
      return content === null && typeof before === "string";
    case "restore":
      return operation.version < version && content === versions[operation.version - 1];
    case "copy":
    case "move":
      return content !== null && (histories.get(operation.path) ?? []).includes(content);
  }
}

export function targetOf(operation: Operation): string {
  return "destination" in operation ? operation.destination : operation.path;
}

function placeOf(path: string, version: number): string {
  return `${path}@${version}`;
}

function show(operation: Operation): string {
  return JSON.stringify(operation).slice(0, 200);
}

/** Pairs as many of `left` as possible with one of `right` each, by augmenting paths. */
function match<Left, Right>(
  left: readonly Left[],
  right: readonly Right[],
  fits: (one: Left, other: Right) => boolean,
): { pairs: Map<Left, Right>; without: Left[] } {
  const ownerOf = new Map<Right, Left>();
  const place = (one: Left, tried: Set<Right>): boolean => {
    for (const other of right) {
      if (tried.has(other) || !fits(one, other)) continue;
      tried.add(other);
      const owner = ownerOf.get(other);
      if (owner !== undefined && !place(owner, tried)) continue;
      ownerOf.set(other, one);
      return true;
    }
    return false;
  };
  const without = left.filter((one) => !place(one, new Set()));
  return { pairs: new Map([...ownerOf].map(([other, one]): [Left, Right] => [one, other])), without };
}
