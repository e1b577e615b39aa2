/** Links: addresses that read one file, or write it once, without a key. */
import type { Api } from "./api.ts";
import type { LinkOptions } from "./options.ts";
import type { CreatedLink, Link, LinkList, RevokedLink } from "./records.ts";

export class Links {
  constructor(private readonly api: Api) {}

  async create(path: string, options: LinkOptions = {}): Promise<CreatedLink> {
    const json = { for: "read", ...options, path };
    return await this.api.data<CreatedLink>("/links", { method: "POST", json });
  }

  /** Those that still work, the newest first, without their addresses. */
  async *list(): AsyncGenerator<Link, void, void> {
    yield* (await this.api.data<LinkList>("/links")).links;
  }

  async delete(id: string): Promise<RevokedLink> {
    return await this.api.data<RevokedLink>(`/links/${encodeURIComponent(id.toWellFormed())}`, {
      method: "DELETE",
    });
  }
}
