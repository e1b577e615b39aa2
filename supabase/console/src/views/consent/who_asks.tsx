/** Who asks, and what the answer would let them do, in plain words. */
import type { AppRequest, AppScope } from "../../api/consent.ts";
import { visible } from "../../format.ts";

/**
 * Anybody can choose any name, so it has a line of its own, which it cannot leave: invisible characters are escaped, its
 * direction is its own, and what is stacked on its letters is cut off.
 */
export function WhoAsks({ client: { name, host } }: Pick<AppRequest, "client">) {
  return (
    <dl class="who-asks">
      <dt>It calls itself</dt>
      <dd>
        {name === "" ? "It gives no name." : <bdi class="path">{visible(name)}</bdi>}
      </dd>
      <dt>From</dt>
      <dd>{host === "" ? "an app on this device" : <strong class="path">{visible(host)}</strong>}</dd>
    </dl>
  );
}

interface Properties {
  readonly scopes: readonly AppScope[];
  readonly pathPrefix: string;
}

const CAN: Readonly<Record<AppScope, readonly string[]>> = {
  read: ["list, search and read files, with their earlier versions and who wrote them"],
  write: [
    "create, change, move and delete files; the earlier versions stay, so you can undo it",
    "create links with which anyone can read a file, or write it once; they end with this permission",
  ],
};

export function WhatItCan({ scopes, pathPrefix }: Properties) {
  const can = scopes.flatMap((scope) => CAN[scope]);
  const cannot = [
    ...(scopes.includes("write") ? [] : ["change or delete anything"]),
    ...(pathPrefix === "" ? [] : [`see anything outside of the folder ${visible(pathPrefix)}`]),
    "see your other projects, your account or your password",
    "erase files for good, create keys, or let other apps in",
  ];
  return (
    <>
      <Points title="It can" points={can} />
      <Points title="It cannot" points={cannot} />
    </>
  );
}

function Points({ title, points }: { readonly title: string; readonly points: readonly string[] }) {
  return (
    <section>
      <h2>{title}</h2>
      <ul>
        {points.map((point) => <li key={point}>{point}</li>)}
      </ul>
    </section>
  );
}
