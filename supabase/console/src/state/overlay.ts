/** What is open in front of the view, whatever it is: the command palette, the list of shortcuts, a new project. */
import { signal } from "@preact/signals";

export const overlay = signal<"palette" | "shortcuts" | "project" | null>(null);

export const MENU_BUTTON = "menu-button";

export const isMenuOpen = signal(false);

/** Closes the menu; the focus goes to the button that opens it, or to the view that was chosen. */
export function closeMenu(focus: "button" | "view"): void {
  if (!isMenuOpen.value) return;
  isMenuOpen.value = false;
  // In the next task the view is visible again.
  setTimeout(() => document.getElementById(focus === "button" ? MENU_BUTTON : "main")?.focus());
}
