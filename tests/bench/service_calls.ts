/** The parameters of the service's own calls for one project, so that a bare function can send exactly the same calls. */
import { sha256Hex } from "../../supabase/functions/api/runtime/bytes.ts";
import { objectName } from "../support/postgres/postgres_filestore.ts";
import type { BareCommit, Json } from "./baselines.ts";
import type { Project } from "./bench_stack.ts";
import { bytesOf } from "./contents.ts";

export class ServiceCalls {
  private constructor(private readonly project: Project, private readonly keyHash: string) {}

  static async of(project: Project): Promise<ServiceCalls> {
    return new ServiceCalls(project, await sha256Hex(bytesOf(project.key)));
  }

  of(parameters: Json): Json {
    return { p_key_hash: this.keyHash, p_request_id: crypto.randomUUID(), ...parameters };
  }

  /** A version whose one segment contains `content`. */
  async commit(kind: string, path: string, content: string): Promise<BareCommit> {
    const id = crypto.randomUUID();
    const name = objectName(this.project.id, id);
    const bytes = bytesOf(content);
    const segment = {
      id,
      name,
      size: bytes.length,
      sha256: await sha256Hex(bytes),
      newlines: content.split("\n").length - 1,
      endsWithNewline: content.endsWith("\n"),
      isText: true,
    };
    const mime = kind === "write" ? { mimeType: "text/plain" } : {};
    const change = { path, commitId: crypto.randomUUID(), segments: [segment], ...mime };
    return { name, content, parameters: this.of({ p_kind: kind, p_commit: change }) };
  }
}
