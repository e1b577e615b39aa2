/** A host as strangers have it: it answers each connection with given bytes, by TCP or by TLS; and the way to it. */
import type { Dialler } from "../../../supabase/functions/api/outbound/public_request.ts";

/** The address of a public host. */
export const PUBLIC = "93.184.215.14";

/** Of `app.example` alone; nobody but the tests trusts it. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBZDCCAQqgAwIBAgIBATAKBggqhkjOPQQDAjAWMRQwEgYDVQQDDAthcHAuZXhh
bXBsZTAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowFjEUMBIGA1UE
AwwLYXBwLmV4YW1wbGUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQoXxm2wSwL
mZCkyh1plI4W3Br1U7w1piaAouNEQ33xWP7VsPGDmR9p9fPFZq6SjVa98J2dj/VK
KfYTuUl0aXdyo0cwRTAWBgNVHREEDzANggthcHAuZXhhbXBsZTAMBgNVHRMBAf8E
AjAAMB0GA1UdDgQWBBTmb1Ovaq4iGzB+V68zGpdSvUmcMTAKBggqhkjOPQQDAgNI
ADBFAiAyOr/oL2gACzsV7j5SAOnZ4GR62QQe4or83a6XpwczTgIhAPrJZYqtbYxX
p7JZC7WtzKZzeDmrkQWFpPaht3YB0Z8l
-----END CERTIFICATE-----
`;
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg9/QCftO3Jf88ayBs
L9biEBDlImGOCJ7M7eC+BAszOc+hRANCAAQoXxm2wSwLmZCkyh1plI4W3Br1U7w1
piaAouNEQ33xWP7VsPGDmR9p9fPFZq6SjVa98J2dj/VKKfYTuUl0aXdy
-----END PRIVATE KEY-----
`;

/** The pieces of an answer; the connection is closed after the last one. A promise delays it. */
export type Pieces = readonly (string | Promise<unknown>)[];

export interface Host extends AsyncDisposable {
  readonly port: number;
  /** The requests so far. */
  readonly requests: string[];
}

/** `answer` is called for each request, with its text. */
export function host(isTls: boolean, answer: (request: string) => Pieces): Host {
  const options = { hostname: "127.0.0.1", port: 0 };
  const listener = isTls ? Deno.listenTls({ ...options, cert: CERTIFICATE, key: KEY }) : Deno.listen(options);
  const requests: string[] = [];
  const open = new Set<Deno.Conn>();
  const serve = async (connection: Deno.Conn) => {
    open.add(connection);
    try {
      const buffer = new Uint8Array(4096);
      const count = await connection.read(buffer);
      // Who hangs up without a word has seen a certificate that it does not trust.
      if (count === null) return;
      requests.push(new TextDecoder().decode(buffer.subarray(0, count)));
      for (const piece of answer(requests.at(-1) ?? "")) {
        if (piece instanceof Promise) await piece;
        else await writeAll(connection, new TextEncoder().encode(piece));
      }
      if ("closeWrite" in connection) await connection.closeWrite();
    } catch {
      // The client has closed, or refuses the certificate.
    } finally {
      open.delete(connection);
      close(connection);
    }
  };
  const serving = (async () => {
    for await (const connection of listener) serve(connection);
  })();
  return {
    port: listener.addr.transport === "tcp" ? listener.addr.port : 0,
    requests,
    async [Symbol.asyncDispose]() {
      listener.close();
      open.forEach(close);
      await serving;
    },
  };
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch { /* it is closed already */ }
}

/** A dialler for which every name has these addresses, in turn, and every address is a port of this machine. */
export function dialler(port: number, ...answers: readonly (readonly string[])[]) {
  const dialled: string[] = [];
  const turns = answers.values();
  let last: readonly string[] = [];
  const made: Dialler = {
    resolve() {
      last = turns.next().value ?? last;
      return Promise.resolve([...last]);
    },
    connect(address, asked) {
      dialled.push(`${address} ${asked}`);
      return Deno.connect({ hostname: "127.0.0.1", port });
    },
    secure: (connection, hostname) => Deno.startTls(connection, { hostname, caCerts: [CERTIFICATE] }),
  };
  return { dialler: made, dialled };
}
