/** What is open in front of the view: the command palette, the list of shortcuts, or nothing. */
import { signal } from "@preact/signals";

export const overlay = signal<"palette" | "shortcuts" | null>(null);
