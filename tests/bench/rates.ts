/** Measures how much work many clients complete, side by side: slices of all kinds alternate. */
import { sized } from "./bench.ts";

/** A work of a client. Its argument is the client's number, from 0. */
export type ClientWork = (client: number) => Promise<unknown>;

const SLICES = 7;
const SLICE_MILLISECONDS = 1500;

/**
 * Runs slices of all works alternately, forwards and backwards. Returns the completions a second of each, without its
 * first slice.
 */
export async function ratesOf<Name extends string>(
  works: Readonly<Record<Name, ClientWork>>,
  clients: number,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(works) as Name[];
  const found = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  for (let slice = 0; slice < Math.max(2, sized(SLICES)); slice++) {
    for (const name of slice % 2 === 0 ? names : names.toReversed()) {
      const rate = await perSecond(works[name], clients);
      // The first slice of each warms up.
      if (slice > 0) found[name].push(rate);
    }
  }
  return found;
}

async function perSecond(work: ClientWork, clients: number): Promise<number> {
  const started = performance.now();
  let done = 0;
  const client = async (index: number) => {
    while (performance.now() - started < sized(SLICE_MILLISECONDS)) {
      await work(index);
      done++;
    }
  };
  // In a brief run two: they show that the clients do not hinder each other.
  await Promise.all(
    Array.from({ length: Math.min(clients, Math.max(2, sized(clients))) }, (_, index) => client(index)),
  );
  return done / (performance.now() - started) * 1000;
}
