import { render } from "preact";
import { loadConfig } from "../config.ts";
import { App } from "./app.tsx";
import { openSession } from "../session/session.ts";
import { moveConsentRequest, readAddress } from "../state/router.ts";
import "../state/preferences.ts";

const root = document.getElementById("app");
if (root === null) throw new Error("the page has no element #app");
if (globalThis.top === globalThis.self) {
  try {
    await loadConfig();
    moveConsentRequest();
    await openSession();
    readAddress();
    render(<App />, root);
  } catch (error) {
    render(<StartupError error={error} />, root);
  }
} else {
  // Only a header can forbid frames, and not every static host sends one.
  render(<Framed />, root);
}

function StartupError({ error }: { readonly error: unknown }) {
  return (
    <main class="signin">
      <div class="signin-card" role="alert">
        <h1>The console cannot start</h1>
        <p>Its settings (config.json) could not be read: {String(error)}</p>
        <button type="button" class="primary" onClick={() => location.reload()}>Try again</button>
      </div>
    </main>
  );
}

/** In a frame, another site could trick its visitors into pressing buttons here that they do not see. */
function Framed() {
  return (
    <main class="signin">
      <div class="signin-card" role="alert">
        <h1>The console does not work in a frame</h1>
        <p>
          <a href="./" target="_blank" rel="noopener noreferrer">Open it in a tab of its own</a>
        </p>
      </div>
    </main>
  );
}
