/** The overlay that is open in front of the view: the command palette, the list of shortcuts, or a new project. */
import { signal } from "@preact/signals";

export const overlay = signal<"palette" | "shortcuts" | "project" | null>(null);

export const MENU_BUTTON = "menu-button";

export const isMenuOpen = signal(false);

/** Closes the menu. The focus moves to the button that opens the menu, or to the chosen view. */
export function closeMenu(focus: "button" | "view"): void {
  if (!isMenuOpen.value) return;
  isMenuOpen.value = false;
  // The view becomes visible again only in the next task.
  setTimeout(() => document.getElementById(focus === "button" ? MENU_BUTTON : "main")?.focus());
}
