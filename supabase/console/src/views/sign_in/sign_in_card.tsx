import type { ComponentChildren } from "preact";

interface Properties {
  readonly title: string;
  readonly children: ComponentChildren;
}

/** A page without the frame of a project: the brand, a title and a form. */
export function SignInCard({ title, children }: Properties) {
  return (
    <main class="signin">
      <div class="signin-card">
        <p class="brand">
          <img src="icon.svg" alt="" width="28" height="28" />Filestore
        </p>
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}
