/** Failed authentications per client address and clock minute: best effort, in memory of one isolate. */
import { ADDRESS_REQUESTS_PER_MINUTE, ADDRESSES_REMEMBERED_MAX } from "../limits.ts";
import type { RateView } from "../ports/answer.ts";

const MINUTE = 60_000;

export class FailedAuthLimiter {
  private readonly failures = new Map<string, number>();
  private minute = 0;

  /** The address's window, for the headers. */
  view(address: string, now: number): RateView {
    this.roll(now);
    const failures = this.failures.get(this.keyOf(address)) ?? 0;
    const remaining = Math.max(0, ADDRESS_REQUESTS_PER_MINUTE - failures);
    return { limit: ADDRESS_REQUESTS_PER_MINUTE, remaining, reset: (this.minute + 1) * 60 };
  }

  /** Counts a failed authentication. False if the address has none left: then nothing is counted. */
  consume(address: string, now: number): boolean {
    this.roll(now);
    const key = this.keyOf(address);
    const failures = this.failures.get(key) ?? 0;
    if (failures >= ADDRESS_REQUESTS_PER_MINUTE) return false;
    this.failures.set(key, failures + 1);
    return true;
  }

  /** Bounds the memory under a flood of addresses: those beyond the maximum share one count. */
  private keyOf(address: string): string {
    return this.failures.has(address) || this.failures.size < ADDRESSES_REMEMBERED_MAX ? address : "";
  }

  private roll(now: number): void {
    const minute = Math.floor(now / MINUTE);
    if (minute === this.minute) return;
    this.minute = minute;
    this.failures.clear();
  }
}

/**
 * The client address that the platform vouches for: the one its edge sets, else the last hop of X-Forwarded-For, which
 * the gateway appended. Everything before that hop is set by the client and not trusted.
 */
export function clientAddress(headers: Headers): string {
  return headers.get("cf-connecting-ip") ?? headers.get("x-forwarded-for")?.split(",").at(-1)?.trim() ??
    "unknown";
}
