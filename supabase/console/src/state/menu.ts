/** On a phone the sidebar is a menu that is opened and closed. */
import { signal } from "@preact/signals";

export const isMenuOpen = signal(false);
