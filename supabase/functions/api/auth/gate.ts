/**
 * One request's way to the database: who asks, whether the request was counted, what its window looks like.
 * The order of checks is the contract's: address limit, key, project limit, and only then the request itself.
 */
import { isAccessToken } from "./access_token.ts";
import type { AddressWindows } from "./failed_auth_limiter.ts";
import { hashApiKey, isWellFormedApiKey } from "./api_key.ts";
import type { ConsoleSessions } from "./console_sessions.ts";
import type { KeyMemory } from "./key_cache.ts";
import { ApiError, ERRORS, fail, unavailable } from "../errors.ts";
import type { AccountAnswer, Accounts, AdministrativeAction } from "../ports/accounts.ts";
import type { Answer, Caller, Grant, RateView, Refusal, Scope } from "../ports/answer.ts";
import type { Authorization, Metadata } from "../ports/metadata.ts";
import { secondsUntil } from "../http/respond.ts";

/** A request with an account's access token: which project it is about, if it says so. */
interface Account {
  readonly accessToken: string;
  readonly projectId: string | null;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export interface GateParts {
  readonly metadata: Metadata;
  readonly accounts: Accounts;
  readonly sessions: ConsoleSessions;
  readonly keys: KeyMemory;
  readonly addresses: AddressWindows;
  readonly now: () => number;
}

export class Gate {
  private keyHash: string | undefined;
  private account: Account | undefined;
  private scopes: readonly Scope[] = [];
  private counted = false;
  private answered = false;
  private granted: Grant | undefined;
  private window: RateView | undefined;

  constructor(
    private readonly parts: GateParts,
    private readonly address: string,
    private readonly requestId: string,
  ) {}

  /** What the rate headers show now. */
  get rate(): RateView {
    return this.window ?? this.parts.addresses.view(this.address, this.parts.now());
  }

  /** The project and tier of the key, once the database has said so: in this request, or lately in this isolate. */
  get grant(): Grant | undefined {
    if (this.granted) return this.granted;
    return this.keyHash === undefined ? undefined : this.parts.keys.grant(this.keyHash, this.parts.now());
  }

  /** Whether this request was admitted by the database, not only by memory. */
  get isAdmitted(): boolean {
    return this.granted !== undefined;
  }

  /**
   * Checks the key as far as that goes without the database; the owner of a project comes with an access token and
   * `x-project-id` instead. Throws 401, 403 for a key that is known to lack one of `scopes`, or 429 for an address that
   * failed too often or a project whose window is known to be used up.
   */
  async identify(headers: Headers, scopes: readonly Scope[]): Promise<void> {
    const bearer = bearerOf(headers);
    const isOwner = !headers.has("x-api-key") && isAccessToken(bearer);
    this.keyHash = isOwner
      ? await this.openConsole(bearer, headers)
      : await this.knownHash(headers.get("x-api-key") ?? bearer);
    this.refuseExhausted(this.keyHash);
    this.scopes = scopes;
    if (this.grant && !this.allows(this.grant)) await this.admit();
  }

  /**
   * For what is done with accounts: an access token, verified with the first question to the database. Where
   * `orKey`, an API key will do. Throws 401.
   */
  async identifyAccount(headers: Headers, orKey: boolean): Promise<void> {
    const bearer = bearerOf(headers);
    const isKey = headers.has("x-api-key") || isWellFormedApiKey(bearer);
    if (orKey && isKey) return await this.identify(headers, []);
    if (isKey || !isAccessToken(bearer)) this.refuseSession();
    const projectId = headers.get("x-project-id");
    const isBad = projectId !== null && !UUID.test(projectId);
    // A bad id is refused after the token was looked at, for which there is no project then.
    this.account = { accessToken: bearer, projectId: isBad ? null : projectId };
    if (isBad) await this.check(refuseProjectId);
  }

  private async knownHash(key: string): Promise<string> {
    if (!isWellFormedApiKey(key)) this.refuseKey();
    const keyHash = await hashApiKey(key);
    if (this.parts.keys.isRefused(keyHash, this.parts.now())) this.refuseKey();
    return keyHash;
  }

  /** What stands for a key's hash while the owner of the project works in the console. */
  private async openConsole(accessToken: string, headers: Headers): Promise<string> {
    const { sessions, accounts, now } = this.parts;
    const projectId = headers.get("x-project-id") ?? "";
    if (!UUID.test(projectId)) refuseProjectId();
    const keyHash = await sessions.tokenHash(projectId.toLowerCase());
    this.account = { accessToken, projectId };
    if (await sessions.isOpen(accessToken, projectId, now())) return keyHash;
    this.takeAccount(await accounts.openSession(accessToken, projectId, keyHash));
    await sessions.remember(accessToken, projectId, now());
    return keyHash;
  }

  private allows(grant: Grant): boolean {
    return this.scopes.every((scope) => grant.scopes.includes(scope));
  }

  private refuseExhausted(keyHash: string): void {
    const exhausted = this.parts.keys.exhausted(keyHash, this.parts.now());
    if (exhausted) {
      this.window = exhausted;
      this.refuseRate(exhausted.reset);
    }
  }

  /** The caller of the next back-end call. */
  get caller(): Caller {
    if (this.keyHash === undefined) throw new Error("the request was not identified");
    return { keyHash: this.keyHash, requestId: this.counted ? null : this.requestId };
  }

  /** Asks the database for admission, which counts the request; of an account, whether its token holds. */
  async admit(path?: string): Promise<Authorization> {
    if (this.keyHash === undefined && this.account) {
      await this.admitAccount(this.account);
      return { file: null, deletedVersion: null };
    }
    return this.take(await this.parts.metadata.authorize(this.caller, path));
  }

  /** An account that has no project yet is one all the same. */
  private async admitAccount({ accessToken, projectId }: Account): Promise<void> {
    const answer = await this.parts.accounts.administer(accessToken, projectId, "project", {});
    const isNew = projectId === null && !answer.ok && answer.refusal.code === "PROJECT_NOT_FOUND";
    if (!isNew) this.takeAccount(answer);
  }

  /** Does something with the project, for whoever asks: its owner, or a key. */
  async administer(
    action: AdministrativeAction,
    parameters: Readonly<Record<string, unknown>>,
  ): Promise<unknown> {
    const { accounts, metadata } = this.parts;
    if (this.keyHash !== undefined || !this.account) {
      return this.take(await metadata.administer(this.caller, action, parameters));
    }
    const { accessToken, projectId } = this.account;
    return this.takeAccount(await accounts.administer(accessToken, projectId, action, parameters));
  }

  /** The account's projects. */
  async projects(): Promise<unknown> {
    return this.takeAccount(await this.parts.accounts.projects(this.accessToken));
  }

  async createProject(name: string): Promise<unknown> {
    return this.takeAccount(await this.parts.accounts.createProject(this.accessToken, name));
  }

  private get accessToken(): string {
    if (!this.account) throw new Error("the request has no account");
    return this.account.accessToken;
  }

  private takeAccount<T>(answer: AccountAnswer<T>): T {
    this.answered = true;
    return answer.ok ? answer.value : this.refuse(answer.refusal);
  }

  /**
   * Runs a check of the request's own data. What it throws comes after the key and the window in the order of
   * checks, so the database is asked for those first, unless it was.
   */
  async check<T>(check: () => T | Promise<T>): Promise<T> {
    try {
      return await check();
    } catch (error) {
      if (error instanceof ApiError && error.status < 500 && !this.answered) await this.admit();
      throw error;
    }
  }

  /** Takes note of an answer without looking at its value. */
  note<T>(answer: Answer<T>): Answer<T> {
    this.answered = true;
    if (answer.rate) this.window = answer.rate;
    // What stands for a key in a console session may be refused now and hold again later.
    const isKnown = answer.grant !== null ||
      (!answer.ok && answer.refusal.code === "INVALID_API_KEY" && !this.account);
    if (isKnown) this.parts.keys.remember(this.caller.keyHash, answer.grant, answer.rate, this.parts.now());
    if (answer.grant) {
      this.counted = true;
      this.granted = answer.grant;
      this.refuseScopes(answer.grant);
    }
    return answer;
  }

  /** The value of an answer; its refusal is thrown. */
  take<T>(answer: Answer<T>): T {
    this.note(answer);
    return answer.ok ? answer.value : this.refuse(answer.refusal);
  }

  /** Throws the refusal as the contract has it; `otherStatus` for the one code that has two. */
  refuse(refusal: Refusal, otherStatus?: number): never {
    if (refusal.code === "INVALID_API_KEY" && this.account) this.refuseConsole(this.account);
    if (refusal.code === "INVALID_API_KEY") this.refuseKey();
    if (refusal.code === "INVALID_SESSION") this.refuseSession();
    if (refusal.code === "RATE_LIMIT_EXCEEDED") this.refuseRate(this.rate.reset);
    if (refusal.code === "SEGMENT_LIST_FULL") throw new Error("a full segment list was not compacted");
    const { code } = refusal;
    const details = Object.keys(refusal.details).length > 0 ? refusal.details : undefined;
    const headers = code === "IDEMPOTENCY_KEY_IN_USE" ? { "Retry-After": "1" } : undefined;
    throw new ApiError(code, ERRORS[code].message, details, headers, otherStatus);
  }

  /** The database refuses what is done without a scope by itself; some of it is refused before it is asked for. */
  private refuseScopes(grant: Grant): void {
    if (this.allows(grant)) return;
    const scope = this.scopes.find((scope) => !grant.scopes.includes(scope));
    this.refuse({ code: "FORBIDDEN_SCOPE", details: { scope } });
  }

  /** 401, one and the same for every kind of bad key; 429 once the address has failed too often. */
  private refuseKey(): never {
    this.spendAddress();
    fail("INVALID_API_KEY", ERRORS.INVALID_API_KEY.message);
  }

  private refuseSession(): never {
    this.spendAddress();
    fail("INVALID_SESSION", ERRORS.INVALID_SESSION.message);
  }

  private spendAddress(): void {
    this.window = undefined;
    if (!this.parts.addresses.spend(this.address, this.parts.now())) this.refuseRate(this.rate.reset);
  }

  /** The session ended, or was opened with another secret; it is opened again with the next request. */
  private refuseConsole({ accessToken, projectId }: Account): never {
    if (projectId !== null) this.parts.sessions.forget(accessToken, projectId).catch(() => {});
    throw unavailable();
  }

  private refuseRate(reset: number): never {
    const seconds = Math.max(1, secondsUntil(reset, this.parts.now()));
    fail("RATE_LIMIT_EXCEEDED", ERRORS.RATE_LIMIT_EXCEEDED.message, undefined, {
      "Retry-After": String(seconds),
    });
  }
}

function bearerOf(headers: Headers): string {
  return headers.get("authorization")?.match(/^Bearer +(.*)$/i)?.[1] ?? "";
}

function refuseProjectId(): never {
  const reason = "must be the id of a project";
  fail("VALIDATION_ERROR", `x-project-id: ${reason}`, { issues: [{ path: "x-project-id", reason }] });
}
