/** Serves the local sentence model. Its process starts with the first request, and again when it has ended. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import {
  EMBEDDINGS_REQUESTS_MAX,
  EMBEDDINGS_RETRY_MILLISECONDS,
  EMBEDDINGS_WAIT_MILLISECONDS,
  GATEWAY_RETRY_AFTER_SECONDS,
} from "../limits.ts";
import { EMBEDDINGS_PROCESS, MODEL_CONFIG } from "../repository.ts";
import { denoEnvironment, type FunctionCommand } from "./function_command.ts";
import { FunctionPool } from "./function_pool.ts";
import { proxy } from "./proxy.ts";

/** Stored with each vector, since vectors of different models cannot be compared. */
export const LOCAL_MODEL = "universal-sentence-encoder-lite-en";

export class LocalEmbeddings {
  readonly #server: Server;
  readonly #command: FunctionCommand;
  #process: FunctionPool | null = null;
  /** Resolves to null if the process does not start. */
  #failure: Promise<null> = Promise.resolve(null);
  #failedAt = -Infinity;
  #requests = 0;
  #isStopped = false;

  private constructor(private readonly onLog: (line: string) => void, command: FunctionCommand) {
    this.#command = command;
    this.#server = createServer((incoming, outgoing) => {
      this.#serve(incoming, outgoing).catch(() => refuse(outgoing, 503));
    });
  }

  /** Listens, but does not start the process yet. Tests replace `command`. */
  static async start(
    onLog: (line: string) => void,
    command: FunctionCommand = modelCommand(),
  ): Promise<LocalEmbeddings> {
    const embeddings = new LocalEmbeddings(onLog, command);
    await new Promise<void>((resolve, reject) => {
      embeddings.#server.once("error", reject);
      embeddings.#server.listen(0, "127.0.0.1", resolve);
    });
    return embeddings;
  }

  /** The address of the endpoint, which has the interface of OpenAI's. */
  get url(): string {
    const address = this.#server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    return `http://127.0.0.1:${port}/v1/embeddings`;
  }

  /** The id of the process, while it runs. */
  get pids(): readonly number[] {
    return this.#process?.pids ?? [];
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#process?.stop();
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    if (incoming.method !== "POST" || incoming.url !== "/v1/embeddings") return refuse(outgoing, 404);
    // The client repeats a refused request: the function tries three times, and indexing is not urgent.
    if (this.#requests >= EMBEDDINGS_REQUESTS_MAX) return refuse(outgoing, 429);
    this.#requests++;
    outgoing.on("close", () => this.#requests--);
    const process = this.#running();
    const upstream = process &&
      await Promise.race([process.next(EMBEDDINGS_WAIT_MILLISECONDS), this.#failure]);
    if (upstream === null) return refuse(outgoing, 503);
    proxy(incoming, outgoing, { ...upstream, path: "/v1/embeddings" }, () => refuse(outgoing, 503));
  }

  /**
   * Returns the process, and starts it if none runs. Null: its last start failed less than EMBEDDINGS_RETRY_MILLISECONDS
   * ago.
   */
  #running(): FunctionPool | null {
    if (this.#process || this.#isStopped) return this.#process;
    if (performance.now() - this.#failedAt < EMBEDDINGS_RETRY_MILLISECONDS) return null;
    const process = new FunctionPool(1, this.#command, this.onLog);
    this.#process = process;
    this.#failure = new Promise((resolve) => {
      process.start().catch((error) => {
        resolve(null);
        if (this.#isStopped) return;
        this.onLog(`The model for semantic search does not start: ${error.message}`);
        this.#process = null;
        this.#failedAt = performance.now();
      });
    });
    return process;
  }
}

function refuse(outgoing: ServerResponse, status: number): void {
  if (outgoing.headersSent || outgoing.destroyed) return void outgoing.destroy();
  outgoing.writeHead(status, { "retry-after": String(GATEWAY_RETRY_AFTER_SECONDS) });
  outgoing.end();
}

/** The command of the model's process. Deno downloads its packages, which have their own lock file, when it first starts. */
function modelCommand(): FunctionCommand {
  return {
    executable: Deno.execPath(),
    args: [
      ...["run", "--no-prompt", "--no-check", "--allow-env", "--allow-read", "--allow-net=127.0.0.1"],
      // Without the flag Deno warns that it also aborts `request.signal` after each response.
      ...["--config", MODEL_CONFIG, "--unstable-no-legacy-abort", EMBEDDINGS_PROCESS],
    ],
    environment: denoEnvironment(),
  };
}
