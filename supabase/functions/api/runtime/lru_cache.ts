/** A map of bounded total weight: the least recently used entries are evicted to make room for a new one. */
export class LruCache<Key, Value> {
  /** In order of use: a Map keeps insertion order, so the first entry is the least recently used. */
  private readonly entries = new Map<Key, Value>();
  private weight = 0;

  /** By default each entry weighs 1, so that `maxWeight` is the number of entries. */
  constructor(
    private readonly maxWeight: number,
    private readonly weigh: (value: Value) => number = () => 1,
  ) {}

  /** Returns the value; this counts as a use of it. */
  get(key: Key): Value | undefined {
    const value = this.entries.get(key);
    if (value === undefined) return undefined;
    this.entries.delete(key);
    this.entries.set(key, value);
    return value;
  }

  /** Returns the value; this does not count as a use. For entries that expire a fixed time after they were set. */
  peek(key: Key): Value | undefined {
    return this.entries.get(key);
  }

  /** Stores the value; this counts as a use of it. A value over `maxWeight` is not stored: the key then has no value. */
  set(key: Key, value: Value): void {
    this.delete(key);
    const weight = this.weigh(value);
    if (weight > this.maxWeight) return;
    this.entries.set(key, value);
    this.weight += weight;
    for (const oldest of this.entries.keys()) {
      if (this.weight <= this.maxWeight) break;
      this.delete(oldest);
    }
  }

  delete(key: Key): void {
    const value = this.entries.get(key);
    if (value === undefined) return;
    this.entries.delete(key);
    this.weight -= this.weigh(value);
  }
}
