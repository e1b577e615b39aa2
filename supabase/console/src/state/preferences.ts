/** A person's preferences, stored in this browser: the colour theme, and whether lines wrap. */
import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const THEME = "filestore.theme";
const WRAPS_LINES = "filestore.wrap";
export const THEMES: readonly Theme[] = ["system", "light", "dark"];

export const theme = signal<Theme>(THEMES.find((one) => one === localStorage.getItem(THEME)) ?? "system");

effect(() => {
  document.documentElement.dataset.theme = theme.value;
  localStorage.setItem(THEME, theme.value);
});

export function nextTheme(): Theme {
  return THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? "system";
}

export const wrapsLines = signal(localStorage.getItem(WRAPS_LINES) === "true");

effect(() => localStorage.setItem(WRAPS_LINES, String(wrapsLines.value)));
