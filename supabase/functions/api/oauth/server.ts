/** The parts of an isolate with which it serves apps that sign in. They are created with the first request of one. */
import type { Gate } from "../auth/gate.ts";
import { MinuteCounts } from "../auth/minute_counts.ts";
import { throwRateLimitExceeded } from "../auth/refusals.ts";
import {
  ADDRESSES_REMEMBERED_MAX,
  OAUTH_AUTHORIZATIONS_PER_MINUTE,
  OAUTH_REGISTRATIONS_PER_HOUR,
  OAUTH_TOKENS_PER_MINUTE,
} from "../limits.ts";
import { type Client, findClient } from "./client.ts";
import { ClientDocuments } from "./client_documents.ts";
import type { Outside } from "../outbound/outside.ts";
import { SignedRecords } from "./signed.ts";

const HOUR_MILLISECONDS = 3_600_000;

export class OAuthServer {
  readonly records: SignedRecords;
  readonly documents: ClientDocuments;
  /** Each by client address: none of these requests has a project or an account yet. */
  readonly #counts = {
    register: new MinuteCounts(OAUTH_REGISTRATIONS_PER_HOUR, ADDRESSES_REMEMBERED_MAX, HOUR_MILLISECONDS),
    authorize: new MinuteCounts(OAUTH_AUTHORIZATIONS_PER_MINUTE, ADDRESSES_REMEMBERED_MAX),
    token: new MinuteCounts(OAUTH_TOKENS_PER_MINUTE, ADDRESSES_REMEMBERED_MAX),
  };

  /** `secret`: the service's own. */
  constructor(secret: string, outside: Outside) {
    this.records = new SignedRecords(secret);
    this.documents = new ClientDocuments(outside);
  }

  /** Counts a request of the address. Throws RATE_LIMIT_EXCEEDED. */
  count(what: "register" | "authorize" | "token", { address }: Pick<Gate, "address">, now: number): void {
    const counts = this.#counts[what];
    if (!counts.consume(address, now)) throwRateLimitExceeded(counts.view(address, now).reset, now);
  }

  /** Throws OAuthError `invalid_client`. */
  findClient(id: string): Promise<Client> {
    return findClient(this.records, this.documents, id);
  }
}
