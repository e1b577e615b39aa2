/** The log of the function in a file of bounded size. A full file is renamed, and replaces the previous full file. */
import { REQUEST_LOG_BYTES_MAX } from "../limits.ts";

export class RequestLog {
  readonly path: string;
  readonly #bytesMax: number;
  #file: Deno.FsFile | null = null;
  #bytes = 0;

  constructor(path: string, bytesMax = REQUEST_LOG_BYTES_MAX) {
    this.path = path;
    this.#bytesMax = bytesMax;
  }

  /** Appends a line. If the disk is full or missing, the line is lost, but no request fails. */
  write(line: string): void {
    const bytes = new TextEncoder().encode(`${line}\n`);
    try {
      const file = this.#open(bytes.byteLength);
      for (let done = 0; done < bytes.byteLength;) done += file.writeSync(bytes.subarray(done));
      this.#bytes += bytes.byteLength;
    } catch {
      this.close();
    }
  }

  close(): void {
    this.#file?.close();
    this.#file = null;
  }

  #open(next: number): Deno.FsFile {
    this.#file ??= this.#append();
    if (this.#bytes === 0 || this.#bytes + next <= this.#bytesMax) return this.#file;
    this.close();
    Deno.renameSync(this.path, `${this.path}.1`);
    return this.#file = this.#append();
  }

  #append(): Deno.FsFile {
    const file = Deno.openSync(this.path, { append: true, create: true, mode: 0o600 });
    this.#bytes = file.statSync().size;
    return file;
  }
}
