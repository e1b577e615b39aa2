/** The merges that this isolate has under way. A second one of the same rope would do the same work for nothing. */
export class MergesUnderWay {
  private readonly byFile = new Map<string, Promise<boolean>>();

  /** Whether one of this file's rope is. */
  has(file: string): boolean {
    return this.byFile.has(file);
  }

  /** Runs the merge. Where one is under way, waits for that instead, which then did what there was to do. */
  async join(file: string, merge: () => Promise<boolean>): Promise<boolean> {
    const other = this.byFile.get(file);
    if (other) return await other.then(() => true, () => true);
    const own = merge();
    this.byFile.set(file, own);
    try {
      return await own;
    } finally {
      this.byFile.delete(file);
    }
  }
}
