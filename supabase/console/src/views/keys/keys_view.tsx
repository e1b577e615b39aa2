import { useState } from "preact/hooks";
import type { Key, NewKey } from "../../api/projects.ts";
import { useCommands } from "../../components/commands.ts";
import { Icon } from "../../components/icon.tsx";
import { Empty, Loading, Problem } from "../../components/states.tsx";
import { keysOf, loadKeys } from "../../state/keys.ts";
import { hrefOf } from "../../state/router.ts";
import { useLoad } from "../../state/use_load.ts";
import { CreateKeyDialog, EditKeyDialog } from "./key_settings.tsx";
import { type KeyAction, KeyTable } from "./key_table.tsx";
import { NewKeyDialog, RevokeKeyDialog, RotateKeyDialog } from "./key_dialogs.tsx";

type Open =
  | { readonly name: "create" }
  | { readonly name: KeyAction; readonly key: Key }
  | { readonly name: "made"; readonly key: NewKey };

export function KeysView({ projectId }: { readonly projectId: string }) {
  const { error, reload } = useLoad(`keys ${projectId}`, (signal) => loadKeys(projectId, signal));
  const [open, setOpen] = useState<Open | null>(null);
  const all = keysOf(projectId);
  const keys = all?.filter(({ kind }) => kind === "key");
  const apps = all?.filter(({ kind }) => kind === "app") ?? [];
  const dialog = { projectId, onClose: () => setOpen(null) };
  const onChoose = (name: KeyAction, key: Key) => setOpen({ name, key });
  const made = (key: NewKey) => {
    setOpen({ name: "made", key });
    reload();
  };
  useCommands([
    { id: "new-key", text: "New API key …", icon: "key", run: () => setOpen({ name: "create" }) },
    ...(keys ?? []).map((key) => ({
      id: `key ${key.id}`,
      text: "Edit",
      icon: "edit" as const,
      run: () => setOpen({ name: "edit", key }),
      isUnlisted: true,
    })),
  ]);
  return (
    <section class="view" aria-labelledby="keys-title">
      <div class="view-head">
        <h1 id="keys-title">API keys</h1>
        <button type="button" class="primary" onClick={() => setOpen({ name: "create" })}>
          <Icon name="plus" />New key
        </button>
      </div>
      {error !== undefined && <Problem error={error} onRetry={reload} />}
      {keys === undefined
        ? error === undefined && <Loading what="keys" />
        : keys.length === 0
        ? (
          <Empty icon="key" title="There are no keys yet.">
            <p>An agent reads and writes with a key. Create one for each agent and environment.</p>
            <p>
              <a href={hrefOf({ name: "connect", projectId })}>Connect an agent</a>
            </p>
          </Empty>
        )
        : <KeyTable kind="key" {...{ keys, onChoose }} />}
      {apps.length > 0 && <h2>Connected apps</h2>}
      {apps.length > 0 && <KeyTable kind="app" keys={apps} onChoose={onChoose} />}
      {open?.name === "create" && <CreateKeyDialog {...dialog} onMade={made} />}
      {open?.name === "edit" && <EditKeyDialog {...dialog} edited={open.key} onDone={reload} />}
      {open?.name === "rotate" && <RotateKeyDialog {...dialog} old={open.key} onMade={made} />}
      {open?.name === "revoke" && <RevokeKeyDialog {...dialog} revoked={open.key} onDone={reload} />}
      {open?.name === "made" && <NewKeyDialog made={open.key} onClose={dialog.onClose} />}
    </section>
  );
}
