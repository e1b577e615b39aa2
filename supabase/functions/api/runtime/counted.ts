/** Numbers in sentences. */

/** `1,234`. */
export function grouped(count: number): string {
  return count.toLocaleString("en-US");
}

/** `1 line`, `2 lines`. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : several}`;
}
