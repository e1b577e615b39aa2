/** Compactions that are running in this isolate, at most one per file: a second one would do the same work again. */
export class InFlightCompactions {
  private readonly byFile = new Map<string, Promise<boolean>>();

  has(file: string): boolean {
    return this.byFile.has(file);
  }

  /** Runs `compact`, or waits for the file's running compaction instead. Returns whether there may be fewer segments. */
  async run(file: string, compact: () => Promise<boolean>): Promise<boolean> {
    const other = this.byFile.get(file);
    if (other) return await other.then(() => true, () => true);
    const own = compact();
    this.byFile.set(file, own);
    try {
      return await own;
    } finally {
      this.byFile.delete(file);
    }
  }
}
