/** A bounded memory of verified segments. They never change, so what is remembered is always right. */
export class SegmentCache {
  private readonly entries = new Map<string, Uint8Array>();
  private bytes = 0;

  constructor(private readonly maxBytes: number) {}

  get(name: string): Uint8Array | undefined {
    const bytes = this.entries.get(name);
    if (bytes !== undefined) {
      // A Map keeps insertion order: the first key is the one unused for longest.
      this.entries.delete(name);
      this.entries.set(name, bytes);
    }
    return bytes;
  }

  set(name: string, bytes: Uint8Array): void {
    if (bytes.length > this.maxBytes || this.entries.has(name)) return;
    this.entries.set(name, bytes);
    this.bytes += bytes.length;
    for (const [oldest, held] of this.entries) {
      if (this.bytes <= this.maxBytes) break;
      this.entries.delete(oldest);
      this.bytes -= held.length;
    }
  }
}
