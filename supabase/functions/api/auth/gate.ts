/** The authority of one request: its caller, whether the database has counted it, and the window that it shows. */
import { ApiError, ERRORS, fail, unavailable } from "../errors.ts";
import { COSTLY_WAIT_MILLISECONDS, REQUESTS_COUNTED_MAX } from "../limits.ts";
import type { Accounts } from "../ports/accounts.ts";
import type { Scope } from "../contract/values.ts";
import type { AccountAnswer, Answer, Caller, Grant, Provenance, RateView, Refusal } from "../ports/answer.ts";
import type { Metadata } from "../ports/metadata.ts";
import type { Authorization } from "../ports/schemas.ts";
import type { Clock } from "../runtime/clock.ts";
import { Deadline } from "../runtime/deadline.ts";
import type { ReleaseSlot, Slots } from "../runtime/slots.ts";
import { subjectOf } from "./access_token.ts";
import {
  type Account,
  APP_REFUSED,
  type Credentials,
  identify,
  type IdentifyParts,
  type Identity,
  throwInvalidProjectId,
} from "./identify.ts";
import { hashLinkToken, LINK_TOKEN_SHAPE } from "./link_token.ts";
import type { MinuteCounts } from "./minute_counts.ts";
import { countFailure, throwRateLimitExceeded, throwRefusal } from "./refusals.ts";

const NO_LINK: Refusal = { code: "LINK_NOT_FOUND", details: {} };

export interface GateParts extends Omit<IdentifyParts, "onRate"> {
  readonly metadata: Pick<Metadata, "authorize">;
  readonly accounts: Pick<Accounts, "openSession" | "administer">;
  /** Counts the requests of accounts that their projects' windows do not count. */
  readonly freeFollows: MinuteCounts;
}

export class Gate {
  /** The provenance that the client sends for the changes of this request. */
  provenance: Provenance | undefined;
  private identity: Identity = { kind: "anonymous" };
  private scopes: readonly Scope[] = [];
  private isCounted = false;
  /** Whether the project's window does not count the request. */
  isFree = false;
  /** The number of requests as which the window has counted this one. */
  private requests = 1;
  /** The work that this request did, in requests as which it counts. */
  private work = 0;
  /** Whether the window had no request left. */
  private isRefused = false;
  /** Whether the database has answered for this request, and so checked the credentials. */
  private isAnswered = false;
  private granted: Grant | undefined;
  private window: RateView | undefined;

  constructor(private readonly parts: GateParts, private readonly requestId: string) {}

  /** The window of the rate headers: that of the project or account once it is known, otherwise of the client address. */
  get rate(): RateView {
    return this.window ?? this.parts.failedAuth.view(this.parts.address, this.parts.now());
  }

  /** The client address that the platform vouches for. */
  get address(): string {
    return this.parts.address;
  }

  /** The project and tier of the key, if the database returned them: in this request, or recently to this isolate. */
  get grant(): Grant | undefined {
    if (this.granted || this.identity.kind !== "key") return this.granted;
    return this.parts.keys.grant(this.identity.keyHash, this.parts.now());
  }

  /** The project and key of a request that the project's window has admitted and counted; otherwise undefined. */
  get admitted(): Pick<Grant, "projectId" | "keyId"> | undefined {
    return this.isFree || this.isRefused ? undefined : this.granted;
  }

  get projectId(): string {
    if (!this.grant) throw new Error("the project is not known yet");
    return this.grant.projectId;
  }

  /**
   * Throws CONTENT_TOO_LARGE for a file over its tier's size, before any byte is stored. Only the database's answer in
   * this request counts: a cached tier may be out of date. The commit checks again.
   */
  ensureWithinTier(sizeBytes: number): void {
    const limitBytes = this.granted?.maxFileBytes ?? null;
    if (limitBytes === null || sizeBytes <= limitBytes) return;
    const { tier } = this.granted ?? {};
    fail("CONTENT_TOO_LARGE", ERRORS.CONTENT_TOO_LARGE.message, { limitBytes, sizeBytes, tier });
  }

  /** The account, on a route for accounts that is called without a key. */
  get account(): Account | undefined {
    return this.identity.kind === "account" ? this.identity.account : undefined;
  }

  /** The account's token, on a route that only accounts may call. */
  get accessToken(): string {
    if (!this.account) throw new Error("the request has no account");
    return this.account.accessToken;
  }

  /** The caller to pass to the next call of `Metadata`, or of `Links` on the route of a link. */
  get caller(): Caller {
    if (this.identity.kind !== "key" && this.identity.kind !== "link") {
      throw new Error("the request has no key");
    }
    const requestId = this.isCounted ? null : this.requestId;
    return { keyHash: this.identity.keyHash, requestId, provenance: this.provenance };
  }

  /**
   * Checks the credentials as far as possible without the database. Throws 401, 403 for a key that is known to lack one
   * of `scopes`, or 429 for an address that failed too often or a project whose window is known to be used up.
   * `isFreeForOwner`: a request of the project's owner counts in `freeFollows` while there is room, and then not in the
   * project's window.
   */
  async enter(
    headers: Headers,
    credentials: Credentials,
    scopes: readonly Scope[],
    isFreeForOwner = false,
  ): Promise<void> {
    const identity = await identify(headers, credentials, {
      ...this.parts,
      onRate: (rate) => this.window = rate,
    });
    this.identity = identity;
    if (identity.kind === "account" && identity.hasBadProjectId) {
      await this.authorize();
      throwInvalidProjectId();
    }
    if (identity.kind !== "key") return;
    this.isAnswered = identity.isConfirmed;
    this.scopes = scopes;
    const { freeFollows, now } = this.parts;
    this.isFree = isFreeForOwner && identity.owner !== null &&
      freeFollows.consume(subjectOf(identity.owner.accessToken), now());
    this.isCounted = this.isFree;
    if (this.isCounted) return;
    this.window = this.parts.keys.exhausted(identity.keyHash, this.parts.now());
    if (this.window) throwRateLimitExceeded(this.window.reset, this.parts.now());
    if (this.grant && !this.isAllowed(this.grant)) await this.authorize();
  }

  /** Authorizes a request whose body determines the scopes. Throws FORBIDDEN_SCOPE where the key lacks one. */
  async require(scopes: readonly Scope[]): Promise<Grant> {
    this.scopes = scopes;
    if (!this.grant || !this.isAllowed(this.grant)) await this.authorize();
    if (!this.grant) throw new Error("the request was not authorized");
    return this.grant;
  }

  /** `enter` for the route of a link, whose token is in the address. Throws LINK_NOT_FOUND and 429. */
  async enterLink(token: string): Promise<void> {
    const { keys, now } = this.parts;
    const keyHash = await hashLinkToken(token);
    this.identity = { kind: "link", keyHash };
    if (!LINK_TOKEN_SHAPE.test(token) || keys.isRefused(keyHash, now())) this.throwRefusal(NO_LINK);
    this.window = keys.exhausted(keyHash, now());
    if (this.window) throwRateLimitExceeded(this.window.reset, now());
  }

  /** Lets the database authorize the request; a later call counts it, once its number of requests is known. */
  async authorizeWithoutCounting(): Promise<void> {
    const caller = { ...this.caller, requestId: null };
    this.unwrap(await this.parts.metadata.authorize(caller));
    this.isCounted = false;
    this.isAnswered = false;
  }

  /** Lets the database authorize the request and count it as `requests`; throws where the window has fewer left. */
  async count(requests: number): Promise<void> {
    this.unwrap(await this.parts.metadata.authorize(this.caller, undefined, requests));
    this.requests = requests;
  }

  /** See `Context.beginCostly`. */
  async beginCostly(slots: Slots, clock: Clock, signal: AbortSignal): Promise<ReleaseSlot> {
    const payer = await this.payer();
    try {
      return await slots.acquire(payer, new Deadline(COSTLY_WAIT_MILLISECONDS, clock), signal);
    } catch (error) {
      // The request is counted neither in the window nor in the project's usage.
      this.isRefused = this.isAnswered = error instanceof ApiError;
      throw error;
    }
  }

  /** The id by which costly requests share slots: that of the account that owns the project, otherwise the project. */
  private async payer(): Promise<string> {
    if (this.account) {
      await this.authorize();
      return subjectOf(this.account.accessToken);
    }
    if (!this.grant) await this.authorizeWithoutCounting();
    return this.grant?.accountId ?? this.projectId;
  }

  /** Adds work of this request, in requests as which it counts: a sum of 2.5 counts as 3. */
  addWork(requests: number): void {
    this.work += requests;
  }

  /**
   * Counts the added work beyond the requests that were counted already. Where the window has fewer left, it is used
   * up; the request is not refused, since its work is done.
   */
  async countWork(): Promise<void> {
    let more = Math.min(Math.ceil(this.work), REQUESTS_COUNTED_MAX) - this.requests;
    if (more < 1 || !this.granted || this.isRefused || this.window?.limit === null) return;
    const { keyHash } = this.caller;
    while (more > 0) {
      const caller = { keyHash, requestId: crypto.randomUUID() };
      const answer = await this.parts.metadata.authorize(caller, undefined, more);
      if (answer.grant) this.parts.keys.remember(keyHash, answer.grant, answer.rate, this.parts.now());
      if (answer.rate) this.window = answer.rate;
      const isRefused = !answer.ok && answer.refusal.code === "RATE_LIMIT_EXCEEDED";
      // Other requests may use up the remaining requests that a refusal shows: then the next refusal shows fewer.
      more = isRefused ? answer.rate?.remaining ?? 0 : 0;
    }
  }

  /** Lets the database authorize and count the request, unless it has done so. */
  async ensureCounted(): Promise<void> {
    if (!this.isCounted) await this.authorize();
  }

  /**
   * To be called before an error in the request's own data is reported: errors of the key and the window come first.
   * Lets the database authorize and count the request, unless it has answered already. Throws its refusal.
   */
  async authorizeBeforeReporting(error: unknown): Promise<void> {
    const isClientError = error instanceof ApiError && error.status < 500;
    const isKnown = this.identity.kind === "key" || this.identity.kind === "account";
    if (isClientError && isKnown && !this.isAnswered) await this.authorize();
  }

  /** Lets the database authorize and count the request; returns the file at `path`, if given. */
  async authorize(path?: string): Promise<Authorization> {
    if (this.identity.kind === "account") return await this.authorizeAccount(this.identity.account);
    // Opening the link has authorized it.
    if (this.identity.kind === "link") return { file: null, deletedVersion: null };
    return this.unwrap(await this.parts.metadata.authorize(this.caller, path));
  }

  /** An account that has no project yet is authorized all the same. */
  private async authorizeAccount({ accessToken, projectId }: Account): Promise<Authorization> {
    const answer = await this.parts.accounts.administer(accessToken, projectId, "project", {});
    const isNew = projectId === null && !answer.ok && answer.refusal.code === "PROJECT_NOT_FOUND";
    if (!isNew) this.unwrapAccount(answer);
    return { file: null, deletedVersion: null };
  }

  /** Remembers an answer's grant and window, and returns the answer. Throws FORBIDDEN_SCOPE, no other refusal. */
  observe<T>(answer: Answer<T>): Answer<T> {
    this.isAnswered = true;
    if (answer.rate) this.window = answer.rate;
    if (!answer.ok && answer.refusal.code === "RATE_LIMIT_EXCEEDED") this.isRefused = true;
    // A console session's token may be refused now and be valid again later.
    const refused = this.identity.kind === "link" ? "LINK_NOT_FOUND" : "INVALID_API_KEY";
    const isKeyRefused = !answer.ok && answer.refusal.code === refused && !this.owner;
    if (answer.grant || isKeyRefused) {
      this.parts.keys.remember(this.caller.keyHash, answer.grant, answer.rate, this.parts.now());
    }
    if (answer.grant) {
      this.isCounted = true;
      this.granted = answer.grant;
      this.ensureScopes(answer.grant);
    }
    return answer;
  }

  /** The value of an answer. Throws its refusal. */
  unwrap<T>(answer: Answer<T>): T {
    return this.unwrapAccount(this.observe(answer));
  }

  /** Returns the value of the database's answer about an account. Throws the error if the database refused. */
  unwrapAccount<T>(answer: AccountAnswer<T>): T {
    this.isAnswered = true;
    if (answer.rate) this.window = answer.rate;
    return answer.ok ? answer.value : this.throwRefusal(answer.refusal);
  }

  /** Throws the refusal as an ApiError; `otherStatus` replaces the status of the one code that has two. */
  throwRefusal(refusal: Refusal, otherStatus?: number): never {
    const isUnauthenticated = refusal.code === "INVALID_API_KEY" || refusal.code === "INVALID_SESSION";
    if (refusal.code === "INVALID_API_KEY" && this.owner) {
      // The session has expired, or was opened with another secret key: the next request opens it again.
      this.parts.sessions.forget(this.caller.keyHash);
      throw unavailable();
    }
    if (refusal.code === "INVALID_API_KEY" && this.isApp) {
      this.window = undefined;
      fail("INVALID_API_KEY", APP_REFUSED);
    }
    // A guessed link counts as a failed authentication, like a guessed key.
    if (refusal.code === "LINK_NOT_FOUND" && this.identity.kind === "link") countFailure(this.parts);
    if (isUnauthenticated) this.window = undefined;
    const isPerson = this.owner !== null || this.account !== undefined;
    throwRefusal(refusal, this.parts, this.rate, this.granted?.pathPrefix, otherStatus, isPerson);
  }

  private get isApp(): boolean {
    return this.identity.kind === "key" && this.identity.isApp === true;
  }

  private get owner(): Account | null {
    return this.identity.kind === "key" ? this.identity.owner : null;
  }

  private isAllowed(grant: Grant): boolean {
    return this.scopes.every((scope) => grant.scopes.includes(scope));
  }

  /** The database enforces scopes itself; this refuses earlier, before content is stored. */
  private ensureScopes(grant: Grant): void {
    const scope = this.scopes.find((scope) => !grant.scopes.includes(scope));
    if (scope !== undefined) this.throwRefusal({ code: "FORBIDDEN_SCOPE", details: { scope } });
  }
}
