/** The mark of a row that has just changed: a line at its start, and a shade that fades. */

/** The class of the row. */
export function changedClass(isChanged: boolean): string | undefined {
  return isChanged ? "changed" : undefined;
}

/** The same in words. */
export function ChangedMark({ isChanged }: { readonly isChanged: boolean }) {
  return isChanged ? <span class="visually-hidden">, has just changed</span> : null;
}
