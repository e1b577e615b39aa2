/** A receiver of webhooks on this machine, which tests can make fail, hang, and go away. */
import { Webhook } from "standardwebhooks";

export interface Received {
  readonly id: string;
  readonly headers: Headers;
  readonly text: string;
  /** Whether the receiver has answered that it has it. */
  isAccepted: boolean;
  readonly body: {
    readonly type: string;
    readonly timestamp: string;
    readonly data: {
      readonly projectId: string;
      readonly cursor: string;
      readonly changes: readonly {
        readonly path: string;
        readonly version: number;
        readonly cursor: string;
        readonly operation: string;
      }[];
      readonly branch?: { readonly name: string; readonly state: string };
    };
  };
}

export type Behaviour = (received: Received) => Response | Promise<Response>;

const OK: Behaviour = () => new Response(null, { status: 204 });

export class Receiver {
  /** What arrived, in order, whatever the answer was. */
  readonly received: Received[] = [];
  behaviour: Behaviour = OK;
  #server: Deno.HttpServer<Deno.NetAddr> | null = null;
  port = 0;

  constructor() {
    this.start();
  }

  /** `host:port`, for OUTBOUND_ALLOWED_HOSTS. */
  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  urlOf(path: string): string {
    return `http://${this.host}/${path}`;
  }

  /** Listens again, at the same address. */
  start(): void {
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: this.port, onListen() {} }, async (request) => {
      const text = await request.text();
      const { headers } = request;
      const received = {
        id: headers.get("webhook-id") ?? "",
        headers,
        text,
        isAccepted: false,
        body: JSON.parse(text),
      };
      this.received.push(received);
      const answer = await this.behaviour(received);
      received.isAccepted = answer.ok;
      return answer;
    });
    this.port = this.#server.addr.port;
  }

  async stop(): Promise<void> {
    await this.#server?.shutdown();
  }

  accept(): void {
    this.behaviour = OK;
  }

  /** What arrived at this place, from 0, or from the end. */
  at(place: number): Received {
    const received = this.received.at(place);
    if (received === undefined) throw new Error(`only ${this.received.length} deliveries have arrived`);
    return received;
  }

  /** `path version` of all changes that arrived. */
  changes(): string[] {
    return this.received.flatMap(({ body }) =>
      body.data.changes.map(({ path, version }) => `${path} ${version}`)
    );
  }
}

/** Throws unless the secret has signed it. */
export function verify(secret: string | undefined, { headers, text }: Received): void {
  new Webhook(secret ?? "").verify(text, Object.fromEntries(headers));
}
