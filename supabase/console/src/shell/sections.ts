/** The views of a project that the menu and the palette list. */
import type { IconName } from "../components/icon.tsx";
import { may } from "../state/projects.ts";
import type { ProjectPlace } from "../state/router.ts";

export interface Section {
  readonly icon: IconName;
  readonly text: string;
  readonly to: ProjectPlace;
}

export function sectionsOf(projectId: string): readonly Section[] {
  const keys: readonly Section[] = [
    { icon: "plug", text: "Connect", to: { name: "connect", projectId } },
    { icon: "key", text: "API keys", to: { name: "keys", projectId } },
  ];
  return [
    { icon: "folder", text: "Files", to: { name: "files", projectId, directory: "" } },
    { icon: "trash", text: "Deleted files", to: { name: "deleted", projectId } },
    { icon: "activity", text: "Activity", to: { name: "activity", projectId } },
    { icon: "run", text: "Runs", to: { name: "runs", projectId } },
    { icon: "branch", text: "Branches", to: { name: "branches", projectId } },
    { icon: "link", text: "Links", to: { name: "links", projectId } },
    ...may("admin") ? keys : [],
    { icon: "gear", text: "Settings and usage", to: { name: "settings", projectId } },
  ];
}
