/**
 * Guarantees of a running service that anybody can check from outside, with an address and a key. The files beside this
 * one hold them by area; `deno task acceptance` runs them against a deployment, `tests/http` against a local stack. They
 * may import nothing of the service.
 */
import type { Api, RequestOptions } from "../support/client/api.ts";
import type { Answer } from "../support/client/contract.ts";
import { FolderFiles } from "./folder_files.ts";

/** The service that is checked. */
export interface Target {
  readonly api: Api;
  /** A key that may read and write. */
  readonly key: string;
  /** A key of another project; null: there is none, and what needs it is left out. */
  readonly strangerKey: string | null;
  /** Whether the platform lets HEAD through. */
  readonly passesHead: boolean;
  /** Everything that is written lies below it. */
  readonly folder: string;
  /** What differs as soon as anything stored was changed, at least in these folders. */
  snapshot(opened: readonly FolderFiles[]): Promise<unknown>;
}

/** What a case needs besides a key: another project, or a platform that lets HEAD through. */
export type Need = "stranger" | "head" | null;

export interface Case {
  /** The guarantee. */
  readonly name: string;
  readonly needs: Need;
  /** Throws where it does not hold. */
  run(): Promise<void>;
}

export interface Cases {
  readonly title: string;
  readonly cases: readonly Case[];
}

let target: Target | undefined;
let opened: FolderFiles[] = [];
let count = 0;

/** Chooses the service that all cases run against from now on. */
export function useTarget(chosen: Target): void {
  target = chosen;
}

function chosen(): Target {
  if (target === undefined) throw new Error("no service was chosen");
  return target;
}

/** The files of a new folder, so that no case sees another's. */
export function files(): Promise<FolderFiles> {
  const { api, key, folder } = chosen();
  const own = new FolderFiles(api, key, `${folder}/${++count}`);
  opened.push(own);
  return Promise.resolve(own);
}

/** The same paths in another project. */
export function strangerTo({ folder }: FolderFiles): FolderFiles {
  const { api, strangerKey } = chosen();
  if (strangerKey === null) throw new Error("there is no other project");
  const stranger = new FolderFiles(api, strangerKey, folder);
  opened.push(stranger);
  return stranger;
}

/** Whether a case can run here. */
export function canRun({ needs }: Case): boolean {
  const { strangerKey, passesHead } = chosen();
  return needs === null || (needs === "stranger" ? strangerKey !== null : passesHead);
}

/** A request that is about no folder: with another key or none, or of a route that has no files. */
export function request(
  key: string | null,
  method: string,
  path: string,
  options?: RequestOptions,
): Promise<Answer> {
  return chosen().api.request(key, method, path, options);
}

/** The methods of a read that can be sent here. */
export function readMethods(): readonly ("GET" | "HEAD")[] {
  return chosen().passesHead ? ["GET", "HEAD"] : ["GET"];
}

/** What differs as soon as anything stored was changed, in `more` folders than those of this case, too. */
export function snapshot(...more: readonly FolderFiles[]): Promise<unknown> {
  return chosen().snapshot([...opened, ...more]);
}

/** The folders that were opened since the last call. */
export function takeOpened(): FolderFiles[] {
  const taken = opened;
  opened = [];
  return taken;
}

type Body = () => Promise<void>;

/** An area of the contract, and how its cases are written. */
export function area(title: string) {
  const cases: Case[] = [];
  return {
    cases: { title, cases } satisfies Cases,
    test: (name: string, run: Body): void => void cases.push({ name, needs: null, run }),
    /** A case of two projects: see `strangerTo`. */
    testOfTwo: (name: string, run: Body): void => void cases.push({ name, needs: "stranger", run }),
    testOfHead: (name: string, run: Body): void => void cases.push({ name, needs: "head", run }),
  };
}
