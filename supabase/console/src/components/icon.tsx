/** Icons as paths on a 16-pixel grid. They are hidden from screen readers: the control beside them has a name. */

import type { ComponentProps } from "preact";

const PATHS = {
  activity: "M1.5 8h3l2-5 3 10 2-5h3",
  back: "M10 3 5 8l5 5",
  branch: "M4.5 2v12M4.5 9.5h3a4 4 0 0 0 4-4V5M11.5 5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z",
  check: "m3 8.5 3.5 3.5L13 4.5",
  chevron: "m6 3.5 4.5 4.5L6 12.5",
  close: "m4 4 8 8M12 4l-8 8",
  command: "m3 4.5 3.5 3.5L3 11.5M8.5 12h4.5",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  dark: "M13.5 9.5A6 6 0 1 1 6.5 2.5a5 5 0 0 0 7 7z",
  download: "M8 2v8.5M4.5 7 8 10.5 11.5 7M2.5 13.5h11",
  edit: "m11 2.5 2.5 2.5L5.5 13l-3 .5.5-3zM9.5 4 12 6.5",
  file: "M4 1.5h5L12.5 5v9.5h-8.5zM9 1.5V5h3.5",
  fileArchive: "M4 1.5h8.5v13h-8.5zM8 1.5v1.5M8 5v1.5M8 8.5v1M7 11h2.5v1.5H7z",
  fileCode: "M4 1.5h5L12.5 5v9.5h-8.5zM9 1.5V5h3.5M7 8 5.7 9.7 7 11.4M9.5 8l1.3 1.7-1.3 1.7",
  fileData: "M4 1.5h5L12.5 5v9.5h-8.5zM9 1.5V5h3.5M7.2 7.5q-1 0-1 1.1 0 1-.7 1.1.7.1.7 1.1 0 1.2 1 1.2" +
    "M9.3 7.5q1 0 1 1.1 0 1 .7 1.1-.7.1-.7 1.1 0 1.2-1 1.2",
  fileFilm: "M1.5 3h13v10h-13zM5 3v10M11 3v10M1.5 6.3H5M1.5 9.7H5M11 6.3h3.5M11 9.7h3.5",
  fileImage: "M1.5 2.5h13v11h-13zM1.5 11.5l4-4 3.5 3.5 2-2 3.5 3.5M10.5 6v.1",
  filePdf: "M4 1.5h5L12.5 5v9.5h-8.5zM9 1.5V5h3.5M6 12V8h1.3a1.2 1.2 0 0 1 0 2.4H6M9.5 12V8h1.7M9.5 10h1.4",
  fileSound:
    "M6 12.5V3.5l7-1.5v9M6 12.5a1.8 1.5 0 1 1-3.6 0 1.8 1.5 0 1 1 3.6 0zM13 11a1.8 1.5 0 1 1-3.6 0 1.8 1.5 0 1 1 3.6 0z",
  fileTable: "M1.5 2.5h13v11h-13zM1.5 6h13M1.5 9.8h13M6 6v7.5",
  fileText: "M4 1.5h5L12.5 5v9.5h-8.5zM9 1.5V5h3.5M6 7.5h4.5M6 9.7h4.5M6 11.9h3",
  folder: "M1.5 3.5h4.5l1.5 2h7v8h-13z",
  gear:
    "M8 5.8a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4zM8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2M3.4 3.4l1.4 1.4M11.2 11.2l1.4 1.4M12.6 3.4l-1.4 1.4M4.8 11.2l-1.4 1.4",
  history: "M2.5 8a5.5 5.5 0 1 0 1.8-4.1L2.5 5.5M2.5 2.5v3h3M8 5v3.2l2.2 1.3",
  key: "M10.5 9.5a3.8 3.8 0 1 0-3.6-2.6L2 11.8V14h2.2v-1.6h1.6v-1.6h1.4l1-1zM11.3 4.8v.1",
  light:
    "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1",
  menu: "M2 4h12M2 8h12M2 12h12",
  link: "M6.5 9.5l3-3M7 4.5l1.5-1.5a3 3 0 0 1 4.3 4.3L11.2 8.8M9 11.5 7.5 13a3 3 0 0 1-4.3-4.3l1.6-1.5",
  more: "M2.7 8h1M7.5 8h1M12.3 8h1",
  plug: "M5.5 1.5v4M10.5 1.5v4M3.5 5.5h9v2.5a4.5 4.5 0 0 1-9 0zM8 12.5v2.5",
  plus: "M8 3v10M3 8h10",
  restore: "M3 6.5h7a3.5 3.5 0 0 1 0 7H6M6 3.5l-3 3 3 3",
  rotate: "M13.5 8A5.5 5.5 0 1 1 11.6 3.8L13.5 5.5M13.5 2.5v3h-3",
  run: "M5 3.5 12 8l-7 4.5zM2.5 3.5v9",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3l3.2 3.2",
  signOut: "M6 2.5H2.5v11H6M10 4.5 13.5 8 10 11.5M13.5 8h-8",
  system: "M1.5 2.5h13v8.5h-13zM5.5 14h5M8 11v3",
  trash: "M2.5 4h11M6 4V2h4v2M4 4l.7 10h6.6L12 4",
  upload: "M8 11V2.5M4.5 6 8 2.5 11.5 6M2.5 13.5h11",
  wrap: "M2 3.5h12M2 8h9.5a2.2 2.2 0 0 1 0 4.5H8M9.8 10.7 8 12.5l1.8 1.8M2 12.5h3",
};

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

interface ButtonProperties extends Omit<ComponentProps<"button">, "icon" | "label" | "type"> {
  readonly icon: IconName;
  readonly label: string;
}

export function IconButton({ icon, label, class: kind = "", ...attributes }: ButtonProperties) {
  return (
    <button type="button" class={`icon-button ${kind}`} aria-label={label} {...attributes}>
      <Icon name={icon} />
    </button>
  );
}
