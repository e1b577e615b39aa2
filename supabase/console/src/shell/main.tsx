/** @jsxImportSource preact */
/// <reference lib="dom" />
import { render } from "preact";
import { loadConfig } from "../config.ts";
import { App } from "./app.tsx";
import { openSession } from "../session/session.ts";
import "../state/theme.ts";

const root = document.getElementById("app");
if (root === null) throw new Error("the page has no element #app");
try {
  await loadConfig();
  await openSession();
  render(<App />, root);
} catch (error) {
  render(<StartupError error={error} />, root);
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
