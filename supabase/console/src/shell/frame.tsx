import { useEffect } from "preact/hooks";
import type { Project } from "../api/projects.ts";
import { visible } from "../format.ts";
import { FileView } from "../views/file/file_view.tsx";
import { PastFileView } from "../views/file/past_file_view.tsx";
import { FolderView } from "../views/folder/folder_view.tsx";
import { PastFolderView } from "../views/folder/past_folder_view.tsx";
import { KeysView } from "../views/keys/keys_view.tsx";
import { closeMenu, isMenuOpen } from "../state/overlay.ts";
import { followedProject, followProject } from "../state/live.ts";
import { refreshProject } from "../state/projects.ts";
import { hrefOf, place } from "../state/router.ts";
import { uploadsSettled } from "../state/transfers.ts";
import { ActivityView } from "../views/activity/activity_view.tsx";
import { Sidebar } from "./sidebar.tsx";
import { TopBar } from "./top_bar.tsx";
import { TransferPanel } from "./transfer_panel.tsx";
import { Overlays } from "./overlays.tsx";
import { useShortcuts } from "./shortcuts.ts";
import { useStrayDrops } from "./stray_drops.ts";
import { Invitations } from "../components/invitations.tsx";
import { LazyView } from "../components/lazy_view.tsx";

export function Frame({ project }: { readonly project: Project }) {
  useShortcuts();
  useStrayDrops();
  useEffect(() => {
    closeMenu("view");
    document.title = `${visible(pageTitle())} – ${project.name} – Filestore`;
  }, [place.value, project.name]);
  useEffect(() => followProject(project.id), [project.id]);
  const settled = uploadsSettled.value;
  useEffect(() => {
    if (settled > 0) refreshProject(project.id).catch(() => {});
  }, [settled]);
  return (
    <div class={isMenuOpen.value ? "frame menu-open" : "frame"}>
      <a class="skip" href="#main" onClick={skipToMain}>Skip to the content</a>
      <Sidebar project={project} />
      <div class="frame-body">
        <TopBar project={project} />
        <Invitations />
        <main id="main" tabIndex={-1} key={project.id}>
          {followedProject.value === project.id && <View />}
        </main>
      </div>
      <TransferPanel />
      <Overlays project={project} />
    </div>
  );
}

/** A plain anchor would replace the fragment of the address, which is the current place. */
function skipToMain(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function View() {
  const here = place.value;
  switch (here.name) {
    case "home":
    case "authorize":
      return null;
    case "files":
      if (here.at !== undefined) {
        return <PastFolderView key={`${here.directory} ${here.at}`} place={here} at={here.at} />;
      }
      return <FolderView key={here.directory} place={here} />;
    case "file":
      if (here.at !== undefined) return <PastFileView key={here.path} place={here} at={here.at} />;
      return <FileView key={here.path} place={here} />;
    case "deleted":
      return <LazyView what="the deleted files" given={{ place: here }} load={loadDeleted} />;
    case "activity":
      return <ActivityView place={here} />;
    case "runs":
      return <LazyView what="the runs" given={{ place: here }} load={loadRuns} />;
    case "run":
      return <LazyView key={here.runId} what="the run" given={{ place: here }} load={loadRun} />;
    case "keys":
      return <KeysView projectId={here.projectId} />;
    case "links":
      return <LazyView what="the links" given={{ projectId: here.projectId }} load={loadLinks} />;
    case "connect":
      return <LazyView what="Connect" given={{ projectId: here.projectId }} load={loadConnect} />;
    case "search":
      return <LazyView what="the search" given={{ place: here }} load={loadSearch} />;
    case "nowhere":
      return <Nowhere projectId={here.projectId} />;
    case "settings":
      return <LazyView what="the settings" given={{ place: here }} load={loadSettings} />;
    case "branches":
      return <LazyView what="the branches" given={{ place: here }} load={loadBranches} />;
    case "branch":
      return <LazyView key={here.branch} what="the branch" given={{ place: here }} load={loadBranch} />;
  }
}

function Nowhere({ projectId }: { readonly projectId: string }) {
  return (
    <section class="view" aria-labelledby="nowhere-title">
      <div class="view-head">
        <h1 id="nowhere-title">No such page</h1>
      </div>
      <p>
        The console has no page at this address.{" "}
        <a href={hrefOf({ name: "files", projectId, directory: "" })}>Open the files</a>
      </p>
    </section>
  );
}

async function loadDeleted() {
  return (await import("../views/deleted_view.tsx")).DeletedView;
}

async function loadLinks() {
  return (await import("../views/links_view.tsx")).LinksView;
}

async function loadConnect() {
  return (await import("../views/connect/connect_view.tsx")).ConnectView;
}

async function loadBranches() {
  return (await import("../views/branches/branches_view.tsx")).BranchesView;
}

async function loadBranch() {
  return (await import("../views/branches/branch_view.tsx")).BranchView;
}

async function loadRuns() {
  return (await import("../views/runs/runs_view.tsx")).RunsView;
}

async function loadRun() {
  return (await import("../views/runs/run_view.tsx")).RunView;
}

async function loadSearch() {
  return (await import("../views/search/search_view.tsx")).SearchView;
}

async function loadSettings() {
  return (await import("../views/settings_view.tsx")).SettingsView;
}

function pageTitle(): string {
  const here = place.value;
  if (here.name === "file") return here.path;
  if (here.name === "branch") return `Branch ${here.branch}`;
  if (here.name === "run") return `Run ${here.runId}`;
  if (here.name === "nowhere") return "No such page";
  if (here.name === "files") return here.directory === "" ? "Files" : here.directory;
  return here.name.charAt(0).toUpperCase() + here.name.slice(1);
}
