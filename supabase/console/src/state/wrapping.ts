/** Whether long lines of a text are wrapped: kept in the browser. */
import { effect, signal } from "@preact/signals";

const STORED = "filestore.wrap";

export const wrapsLines = signal(localStorage.getItem(STORED) === "true");

effect(() => localStorage.setItem(STORED, String(wrapsLines.value)));
