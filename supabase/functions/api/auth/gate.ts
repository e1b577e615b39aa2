/**
 * One request's authority: who is calling, whether the database has authorized and counted the request, and the rate
 * window that its response shows.
 */
import { ApiError, unavailable } from "../errors.ts";
import { COSTLY_WAIT_MILLISECONDS, REQUESTS_COUNTED_MAX } from "../limits.ts";
import type { AccountAnswer, Accounts } from "../ports/accounts.ts";
import type { Answer, Caller, Grant, Provenance, RateView, Refusal, Scope } from "../ports/answer.ts";
import type { Authorization, Metadata } from "../ports/metadata.ts";
import type { Clock } from "../runtime/clock.ts";
import { Deadline } from "../runtime/deadline.ts";
import type { ReleaseSlot, Slots } from "../runtime/slots.ts";
import { subjectOf } from "./access_token.ts";
import {
  type Account,
  type Credentials,
  identify,
  type IdentifyParts,
  type Identity,
  throwInvalidProjectId,
} from "./identify.ts";
import { hashLinkToken, isLinkToken } from "./link_token.ts";
import type { MinuteCounts } from "./minute_counts.ts";
import { countFailure, throwRateLimitExceeded, throwRefusal } from "./refusals.ts";

const NO_LINK: Refusal = { code: "LINK_NOT_FOUND", details: {} };

export interface GateParts extends IdentifyParts {
  readonly metadata: Pick<Metadata, "authorize">;
  readonly accounts: Pick<Accounts, "openSession" | "administer">;
  /** What accounts follow without spending their projects' windows. */
  readonly freeFollows: MinuteCounts;
}

export class Gate {
  /** What the client says of the changes that it makes with this request. */
  provenance: Provenance | undefined;
  private identity: Identity = { kind: "anonymous" };
  private scopes: readonly Scope[] = [];
  private isCounted = false;
  private isFree = false;
  /** As how many requests the window has counted this one … */
  private requests = 1;
  /** … and the work that was done, in requests that it counts as. */
  private work = 0;
  /** Whether the window had no request left. */
  private isRefused = false;
  /** Whether the database has answered for this request, and so checked the credentials. */
  private isAnswered = false;
  private granted: Grant | undefined;
  private window: RateView | undefined;

  constructor(private readonly parts: GateParts, private readonly requestId: string) {}

  /** What the rate headers show: the project's or account's window, once it is known, else the client address's. */
  get rate(): RateView {
    return this.window ?? this.parts.failedAuth.view(this.parts.address, this.parts.now());
  }

  /** The project and tier of the key, if the database returned them: in this request, or recently to this isolate. */
  get grant(): Grant | undefined {
    if (this.granted || this.identity.kind !== "key") return this.granted;
    return this.parts.keys.grant(this.identity.keyHash, this.parts.now());
  }

  /** Whether the project's window does not count the request. */
  get isFreeOfWindow(): boolean {
    return this.isFree;
  }

  /** Whose request the database has admitted to a project's window, if it is one that counts. */
  get admitted(): Pick<Grant, "projectId" | "keyId"> | undefined {
    return this.isFree || this.isRefused ? undefined : this.granted;
  }

  get projectId(): string {
    if (!this.grant) throw new Error("the project is not known yet");
    return this.grant.projectId;
  }

  /** The tier's file size in bytes, if the database returned it in this request. Null: no limit, or not known. */
  get authorizedFileBytes(): number | null {
    return this.granted?.maxFileBytes ?? null;
  }

  /** The account, on a route about accounts that is not called with a key. */
  get account(): Account | undefined {
    return this.identity.kind === "account" ? this.identity.account : undefined;
  }

  /** Of the account, on a route that only accounts may call. */
  get accessToken(): string {
    if (!this.account) throw new Error("the request has no account");
    return this.account.accessToken;
  }

  /** For the next call of `Metadata`, or of `Links` for who uses one. */
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
   * `isFreeForOwner`: where the project's owner asks, it is counted in the window of what accounts follow while there is
   * room in it, and not in the project's.
   */
  async enter(
    headers: Headers,
    credentials: Credentials,
    scopes: readonly Scope[],
    isFreeForOwner = false,
  ): Promise<void> {
    const identity = await identify(headers, credentials, this.parts, (rate) => this.window = rate);
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

  /** Of a request whose body decides about scopes: authorizes it, and throws FORBIDDEN_SCOPE where one is lacking. */
  async require(scopes: readonly Scope[]): Promise<Grant> {
    this.scopes = scopes;
    if (!this.grant || !this.isAllowed(this.grant)) await this.authorize();
    if (!this.grant) throw new Error("the request was not authorized");
    return this.grant;
  }

  /** On the route of a link, whose token is in the address: throws LINK_NOT_FOUND and 429 as `enter` does for a key. */
  async enterLink(token: string): Promise<void> {
    const { keys, now } = this.parts;
    const keyHash = await hashLinkToken(token);
    this.identity = { kind: "link", keyHash };
    if (!isLinkToken(token) || keys.isRefused(keyHash, now())) this.throwRefusal(NO_LINK);
    this.window = keys.exhausted(keyHash, now());
    if (this.window) throwRateLimitExceeded(this.window.reset, now());
  }

  /** Has the database authorize the request without counting it: how many requests it counts as is not known yet. */
  async look(): Promise<void> {
    const caller = { ...this.caller, requestId: null };
    this.unwrap(await this.parts.metadata.authorize(caller));
    this.isCounted = false;
    this.isAnswered = false;
  }

  /** Has the database authorize the request and count it as so many, or as none where so many are not left. */
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
      // It is not counted: neither in the window nor among the project's requests.
      this.isRefused = this.isAnswered = error instanceof ApiError;
      throw error;
    }
  }

  /** Who pays for the request: the account that owns the project, else the project. Looked up where it is not known. */
  private async payer(): Promise<string> {
    if (this.account) {
      await this.authorize();
      return subjectOf(this.account.accessToken);
    }
    if (!this.grant) await this.look();
    return this.grant?.accountId ?? this.projectId;
  }

  /** Notes work that was done, in requests that it counts as: 2.5 of them count as 3. */
  addWork(requests: number): void {
    this.work += requests;
  }

  /**
   * Counts the work that was noted, beyond what was counted already. Where the window has fewer left it is used up. What
   * was done stands, so nothing of it is refused.
   */
  async countWork(): Promise<void> {
    let more = Math.min(Math.ceil(this.work), REQUESTS_COUNTED_MAX) - this.requests;
    if (more < 1 || !this.granted || this.isRefused || this.window?.limit === null) return;
    const { keyHash } = this.caller;
    const count = async (requests: number) => {
      const caller = { keyHash, requestId: crypto.randomUUID() };
      const answer = await this.parts.metadata.authorize(caller, undefined, requests);
      if (answer.grant) this.parts.keys.remember(keyHash, answer.grant, answer.rate, this.parts.now());
      if (answer.rate) this.window = answer.rate;
      const isRefused = !answer.ok && answer.refusal.code === "RATE_LIMIT_EXCEEDED";
      return isRefused ? answer.rate?.remaining ?? 0 : 0;
    };
    // Requests in flight may take what the refusal shows as left, so the next refusal shows less.
    while (more > 0) more = await count(more);
  }

  /** Has the database authorize and count the request, unless it has done so. */
  async ensureCounted(): Promise<void> {
    if (!this.isCounted) await this.authorize();
  }

  /**
   * For an error of the request's own data: the key and the window come before it in the order of checks, so the
   * database authorizes and counts the request first, unless it has answered already. Throws its refusal instead.
   */
  async settle(error: unknown): Promise<void> {
    const isClientError = error instanceof ApiError && error.status < 500;
    const isKnown = this.identity.kind === "key" || this.identity.kind === "account";
    if (isClientError && isKnown && !this.isAnswered) await this.authorize();
  }

  /** Has the database authorize and count the request; returns what exists at `path`, if given. */
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

  /** Records what an answer reveals of key and window. Throws FORBIDDEN_SCOPE; its value or refusal is left alone. */
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
    this.observe(answer);
    return answer.ok ? answer.value : this.throwRefusal(answer.refusal);
  }

  /** The same of an answer to an account. */
  unwrapAccount<T>(answer: AccountAnswer<T>): T {
    this.isAnswered = true;
    if (answer.rate) this.window = answer.rate;
    return answer.ok ? answer.value : this.throwRefusal(answer.refusal);
  }

  /** Throws the refusal as the contract has it; `otherStatus` for the one code that has two. */
  throwRefusal(refusal: Refusal, otherStatus?: number): never {
    const isUnauthenticated = refusal.code === "INVALID_API_KEY" || refusal.code === "INVALID_SESSION";
    if (refusal.code === "INVALID_API_KEY" && this.owner) this.throwSessionEnded(this.owner);
    // Guessing a link counts as guessing a key.
    if (refusal.code === "LINK_NOT_FOUND" && this.identity.kind === "link") countFailure(this.parts);
    if (isUnauthenticated) this.window = undefined;
    throwRefusal(refusal, this.parts, this.rate, otherStatus);
  }

  private get owner(): Account | null {
    return this.identity.kind === "key" ? this.identity.owner : null;
  }

  /** The session has expired, or was opened with another secret key: the next request opens it again. */
  private throwSessionEnded({ accessToken, projectId }: Account): never {
    if (projectId !== null) this.parts.sessions.forget(accessToken, projectId).catch(() => {});
    throw unavailable();
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
