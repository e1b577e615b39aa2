/** The page on which a person lets an app use their files, or does not. */
import { useEffect, useState } from "preact/hooks";
import { type AppRequest, readAppRequest } from "../../api/consent.ts";
import { ApiFailure } from "../../api/failure.ts";
import { readAccount } from "../../api/projects.ts";
import { Pending } from "../../components/states.tsx";
import { WhyNoProject } from "../../components/why_no_project.tsx";
import { account, signOut } from "../../session/session.ts";
import { loadProjects, projects } from "../../state/projects.ts";
import { useLoad } from "../../state/use_load.ts";
import { ConsentForm } from "./consent_form.tsx";
import { WhoAsks } from "./who_asks.tsx";

export function ConsentView({ request }: { readonly request: string }) {
  const [redirectTo, setRedirectTo] = useState<string | null>(null);
  const { data: asked, error, reload } = useLoad(`consent ${request}`, async (signal) => {
    const asked = await readAppRequest(request, signal);
    await loadProjects();
    return asked;
  });
  useEffect(() => {
    document.title = "Let an app use your files? – Filestore";
  }, []);
  const answered = (address: string) => {
    setRedirectTo(address);
    // The answered request would be of no use in the browser's history.
    globalThis.location.replace(address);
  };
  return (
    <main class="signin">
      <div class="signin-card consent">
        <p class="brand">
          <img src="icon.svg" alt="" width="28" height="28" />Filestore
        </p>
        {redirectTo !== null
          ? <Answered redirectTo={redirectTo} />
          : isUnknown(error)
          ? <Unknown />
          : asked === undefined
          ? <Pending {...{ error, reload }} what="the request" />
          : <Asked {...{ request, asked }} onAnswered={answered} onEnded={reload} />}
      </div>
    </main>
  );
}

interface AskedProperties {
  readonly request: string;
  readonly asked: AppRequest;
  readonly onAnswered: (redirectTo: string) => void;
  readonly onEnded: () => void;
}

function Asked({ asked, ...form }: AskedProperties) {
  return (
    <>
      <h1>Let an app use your files?</h1>
      <WhoAsks client={asked.client} />
      <p class="hint">
        Nobody has checked the name. Deny if you have not just connected this app yourself.
      </p>
      {projects.value?.length === 0 && <NoProject />}
      <ConsentForm asked={asked} {...form} />
      <p class="hint">
        You are signed in as{" "}
        <span class="path">{account.value?.email}</span>. You can revoke this at any time under “API keys”; if
        the app does not use it for 90 days, it ends.{" "}
        <button type="button" class="link" onClick={signOut}>Use another account</button>
      </p>
    </>
  );
}

function NoProject() {
  const { data, error, reload } = useLoad("account", readAccount);
  return data === undefined
    ? <Pending {...{ error, reload }} what="what you may do" />
    : <WhyNoProject account={data} />;
}

function isUnknown(error: unknown): boolean {
  return error instanceof ApiFailure && error.status === 404;
}

function Unknown() {
  return (
    <div role="alert">
      <h1>This request cannot be answered</h1>
      <p>
        It has been answered already, it is older than 10 minutes, or its address is not complete. Go back to
        the app and connect it again.
      </p>
    </div>
  );
}

/** An app on this device opens in front of this page, which stays. */
function Answered({ redirectTo }: { readonly redirectTo: string }) {
  return (
    <div role="status">
      <h1>The app has your answer</h1>
      <p>
        Continue in the app; you can close this page. If the app did not open,{" "}
        <a href={redirectTo}>open it here</a>.
      </p>
    </div>
  );
}
