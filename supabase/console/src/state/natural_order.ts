/// <reference lib="dom" />
/** Whether folders open in natural order: kept in the browser. */
import { effect, signal } from "@preact/signals";

const STORED = "filestore.naturalOrder";

export const prefersNaturalOrder = signal(localStorage.getItem(STORED) === "true");

effect(() => localStorage.setItem(STORED, String(prefersNaturalOrder.value)));
