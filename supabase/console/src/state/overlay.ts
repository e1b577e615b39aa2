/** What is open in front of the view, whatever it is: the command palette, the list of shortcuts, a new project. */
import { signal } from "@preact/signals";

export const overlay = signal<"palette" | "shortcuts" | "project" | null>(null);
