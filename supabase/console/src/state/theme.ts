/** The colour theme: light, dark, or that of the system. */
import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const STORED = "filestore.theme";
export const THEMES: readonly Theme[] = ["system", "light", "dark"];

export const theme = signal<Theme>(THEMES.find((one) => one === localStorage.getItem(STORED)) ?? "system");

effect(() => {
  document.documentElement.dataset.theme = theme.value;
  localStorage.setItem(STORED, theme.value);
});

export function nextTheme(): Theme {
  return THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? "system";
}
