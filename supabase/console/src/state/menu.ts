/** Whether the sidebar is open; on a phone it is a menu. */
import { signal } from "@preact/signals";

export const isMenuOpen = signal(false);
