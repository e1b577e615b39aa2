/** What a sync is compared with: `rclone copy` to and from a WebDAV server on this machine, or `cp -r` without rclone. */
import { mkdir } from "node:fs/promises";
import { eventually } from "../support/eventually.ts";

export interface CopyServer {
  readonly what: string;
  /** Copies a folder to the server. */
  send(folder: string): Promise<void>;
  /** Copies what was sent to a folder. */
  fetch(folder: string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server that keeps files in the folder. */
export async function serveCopies(folder: string): Promise<CopyServer> {
  await mkdir(folder, { recursive: true });
  const [host, port] = ["127.0.0.1", freePort()];
  const serve = ["serve", "webdav", folder, "--addr", `${host}:${port}`];
  const server = started("rclone", serve);
  if (server === null) {
    return {
      what: "cp -r",
      send: (from) => run("cp", ["-r", `${from}/.`, folder]),
      fetch: (to) => run("cp", ["-r", folder, to]),
      stop: () => Promise.resolve(),
    };
  }
  const url = `http://${host}:${port}`;
  await eventually("the WebDAV server answers", () =>
    fetch(url).then(async (answer) => {
      await answer.body?.cancel();
      return true;
    }, () => false));
  const remote = `:webdav,url='${url}':`;
  return {
    what: "rclone copy, by WebDAV",
    send: (from) => run("rclone", ["copy", from, remote]),
    fetch: (to) => run("rclone", ["copy", remote, to]),
    async stop() {
      server.kill("SIGKILL");
      await server.status;
    },
  };
}

/** Null: there is no such program. */
function started(program: string, args: string[]): Deno.ChildProcess | null {
  try {
    return new Deno.Command(program, { args, stdin: "null", stdout: "null", stderr: "null" }).spawn();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

async function run(program: string, args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args, stdin: "null" }).output();
  if (!success) throw new Error(`${program}: ${new TextDecoder().decode(stderr)}`);
}

function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  listener.close();
  return (listener.addr as Deno.NetAddr).port;
}
