/** Failed authentications per client address and clock minute: best effort, in memory of one isolate. */
import { ADDRESS_REQUESTS_PER_MINUTE, ADDRESSES_REMEMBERED_MAX } from "../limits.ts";
import type { RateView } from "../respond.ts";

const MINUTE = 60_000;

export class AddressWindows {
  private readonly failures = new Map<string, number>();
  private minute = 0;

  /** The address's window, for the headers. */
  view(address: string, now: number): RateView {
    this.roll(now);
    const remaining = Math.max(0, ADDRESS_REQUESTS_PER_MINUTE - (this.failures.get(address) ?? 0));
    return { limit: ADDRESS_REQUESTS_PER_MINUTE, remaining, reset: (this.minute + 1) * 60 };
  }

  /** Counts a failed authentication. False where the address has none left: the window stays as it is. */
  spend(address: string, now: number): boolean {
    this.roll(now);
    const failures = this.failures.get(address) ?? 0;
    if (failures >= ADDRESS_REQUESTS_PER_MINUTE) return false;
    // A flood of addresses must not grow the memory; the newest ones then share one count.
    const key = failures > 0 || this.failures.size < ADDRESSES_REMEMBERED_MAX ? address : "";
    this.failures.set(key, (this.failures.get(key) ?? 0) + 1);
    return true;
  }

  private roll(now: number): void {
    const minute = Math.floor(now / MINUTE);
    if (minute === this.minute) return;
    this.minute = minute;
    this.failures.clear();
  }
}

/**
 * The client address the platform vouches for: what its edge set itself, else the last hop of X-Forwarded-For,
 * which the gateway appended. Everything before that hop is the client's own word.
 */
export function clientAddress(headers: Headers): string {
  return headers.get("cf-connecting-ip") ?? headers.get("x-forwarded-for")?.split(",").at(-1)?.trim() ??
    "unknown";
}
