import { Dialog } from "../components/dialog.tsx";
import { keyNames, PLACES, SHORTCUTS } from "../components/shortcut_table.ts";

export function ShortcutList({ onClose }: { readonly onClose: () => void }) {
  const shortcuts = Object.values(SHORTCUTS);
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      {PLACES.map((place) => (
        <section key={place} class="shortcuts" aria-label={place}>
          <h3>{place}</h3>
          <dl>
            {shortcuts.filter(({ where }) => where === place).map(({ keys: [keys], text }) => (
              <div key={text}>
                <dt>
                  <Keys keys={keys} />
                </dt>
                <dd>{text}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}

export function Keys({ keys }: { readonly keys: string }) {
  return <>{keyNames(keys).map((name) => <kbd key={name}>{name}</kbd>)}</>;
}
