/** A client of the service, with HTTP and an API key. */

export class Client {
  constructor(private readonly baseUrl: string, private readonly key: string) {}

  /** Sends a request and reads the whole answer. Throws unless it is a success. */
  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<string> {
    const isRaw = body === undefined || body instanceof Uint8Array || body instanceof ReadableStream;
    const response = await fetch(this.baseUrl + path, {
      method,
      headers: {
        "x-api-key": this.key,
        ...(isRaw ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isRaw ? body as BodyInit : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 500)}`);
    return text;
  }

  write(path: string, content: string): Promise<string> {
    return this.send("POST", "/files", { path, content });
  }

  /** Writes bytes of any size unchanged. */
  writeRaw(path: string, bytes: Uint8Array | ReadableStream<Uint8Array>): Promise<string> {
    return this.send("POST", `/files?path=${encodeURIComponent(path)}`, bytes);
  }

  overwrite(path: string, content: string): Promise<string> {
    return this.send("PUT", `/files/overwrite/${path}`, { content });
  }

  append(path: string, content: string): Promise<string> {
    return this.send("PUT", `/files/append/${path}`, { content });
  }

  edit(path: string, oldString: string, newString: string): Promise<string> {
    return this.send("PUT", `/files/edit/${path}`, { oldString, newString });
  }

  read(path: string): Promise<string> {
    return this.send("GET", `/files/${path}`);
  }

  /** Reads and drops the content chunk by chunk. Returns the number of bytes. */
  async drain(path: string, onFirstByte: () => void = () => {}): Promise<number> {
    const response = await fetch(`${this.baseUrl}/files/${path}`, { headers: { "x-api-key": this.key } });
    if (!response.ok || !response.body) throw new Error(`GET ${path}: ${response.status}`);
    let count = 0;
    for await (const chunk of response.body) {
      if (count === 0) onFirstByte();
      count += chunk.length;
    }
    return count;
  }
}
