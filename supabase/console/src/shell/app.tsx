/** The sign-in page, or the frame of the open project around the view in the address. */
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Banner, Notices } from "./banner.tsx";
import { LazyView } from "../components/lazy_view.tsx";
import { Loading, Pending } from "../components/states.tsx";
import { NewPasswordPage } from "../views/sign_in/sign_in_card.tsx";
import { SignIn } from "../views/sign_in/sign_in.tsx";
import { discardDrafts } from "../state/drafts.ts";
import { clearKeys } from "../state/keys.ts";
import { clearNotices } from "../state/notices.ts";
import { useLoad } from "../state/use_load.ts";
import {
  clearProjects,
  loadProjects,
  preferredProject,
  project,
  projects,
  rememberProject,
} from "../state/projects.ts";
import { goTo, place, replaceWith } from "../state/router.ts";
import { account, hasExpired, needsNewPassword } from "../session/session.ts";
import { cancelAll } from "../state/transfers.ts";

export function App() {
  const who = account.value;
  useEffect(() => {
    // Another account must not see this account's data. After an expired session, the data stays.
    if (who !== null || hasExpired.value) return;
    clearProjects();
    clearKeys();
    discardDrafts();
    cancelAll();
    clearNotices();
  }, [who]);
  return (
    <>
      <Banner />
      {who === undefined
        ? (
          <Centred>
            <Loading what="your session" />
          </Centred>
        )
        : who === null
        ? <SignIn />
        : needsNewPassword.value
        ? <NewPasswordPage />
        : place.value.name === "authorize"
        ? (
          <LazyView
            key={`${who.id} ${place.value.request}`}
            what="the request"
            given={{ request: place.value.request }}
            load={loadConsent}
            around={Centred}
          />
        )
        : <Projects key={who.id} />}
      <Notices />
    </>
  );
}

function Centred({ children }: { readonly children: ComponentChildren }) {
  return <main class="signin">{children}</main>;
}

/** Few people see this card, so its code is loaded on demand. */
function NoProject({ onReload }: { readonly onReload: () => void }) {
  const load = async () => (await import("./no_project.tsx")).NoProject;
  const { data: Card, error, reload } = useLoad("view no project", load);
  return (
    <Centred>
      {Card ? <Card onReload={onReload} /> : <Pending {...{ error, reload }} what="your projects" />}
    </Centred>
  );
}

/** The sign-in page does without the code of what is behind it. */
async function loadFrame() {
  return (await import("./frame.tsx")).Frame;
}

async function loadConsent() {
  return (await import("../views/consent/consent_view.tsx")).ConsentView;
}

function Projects() {
  const { data, error, reload } = useLoad("projects", async () => {
    // At the same time; whoever needs it reports a failure.
    loadFrame().catch(() => {});
    await loadProjects();
    return true;
  });
  const current = project.value;
  const isHome = place.value.name === "home";
  useEffect(() => {
    if (current !== undefined) rememberProject(current.id);
    const preferred = preferredProject();
    if (data && isHome && preferred) {
      replaceWith({ name: "files", projectId: preferred.id, directory: "" });
    }
  }, [data, isHome, current?.id, projects.value]);
  if (current !== undefined) {
    return <LazyView what="your projects" given={{ project: current }} load={loadFrame} around={Centred} />;
  }
  if (data !== undefined && isHome && projects.value?.length === 0) return <NoProject onReload={reload} />;
  if (data === undefined || isHome) {
    return (
      <Centred>
        <Pending {...{ error, reload }} what="your projects" />
      </Centred>
    );
  }
  return (
    <Centred>
      <div class="signin-card">
        <h1>{place.value.name === "nowhere" ? "No such page" : "No such project"}</h1>
        <p>There is nothing at this address, or it belongs to another account.</p>
        <button type="button" class="primary" onClick={() => goTo({ name: "home" })}>Open my project</button>
      </div>
    </Centred>
  );
}
