/**
 * Guarantees of a running service that anybody can check from outside, with an address and a key. The files beside this
 * one contain them by area. `deno task acceptance` runs them against a deployment, `tests/http` against a local stack.
 * They must not import anything from the service.
 */
import type { Api, RequestOptions } from "../support/client/api.ts";
import type { Answer } from "../support/client/contract.ts";
import { FolderFiles } from "./folder_files.ts";

/** The service to check. */
export interface Target {
  readonly api: Api;
  /** A key with the scopes read and write. */
  readonly key: string;
  /** A key of another project; null: there is none, and cases that need one are skipped. */
  readonly strangerKey: string | null;
  /** Whether the platform passes HEAD requests on. */
  readonly passesHead: boolean;
  /** All files are written below this folder. */
  readonly folder: string;
  /** A value that differs after any change of stored data, at least in these folders. */
  snapshot(opened: readonly FolderFiles[]): Promise<unknown>;
}

/** A special need of a case: another project, or a platform that passes HEAD requests on. */
export type Need = "stranger" | "head" | null;

export interface Case {
  /** The guarantee. */
  readonly name: string;
  readonly needs: Need;
  /** Throws if the guarantee does not hold. */
  run(): Promise<void>;
}

export interface Cases {
  readonly title: string;
  readonly cases: readonly Case[];
}

let target: Target | undefined;
let opened: FolderFiles[] = [];
let count = 0;

/** Sets the service for all cases from now on. */
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

/** The same folder in another project. */
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

/** Sends a request outside any folder: with another key or none, or to a route without files. */
export function request(
  key: string | null,
  method: string,
  path: string,
  options?: RequestOptions,
): Promise<Answer> {
  return chosen().api.request(key, method, path, options);
}

/** The methods of a read that the platform passes on. */
export function readMethods(): readonly ("GET" | "HEAD")[] {
  return chosen().passesHead ? ["GET", "HEAD"] : ["GET"];
}

/** A value that differs after any change of stored data, in this case's folders and in `more`. */
export function snapshot(...more: readonly FolderFiles[]): Promise<unknown> {
  return chosen().snapshot([...opened, ...more]);
}

/** The folders opened since the last call. */
export function takeOpened(): FolderFiles[] {
  const taken = opened;
  opened = [];
  return taken;
}

type Body = () => Promise<void>;

/** Begins an area of the contract, and returns functions to define its cases. */
export function area(title: string) {
  const cases: Case[] = [];
  return {
    cases: { title, cases } satisfies Cases,
    test: (name: string, run: Body): void => void cases.push({ name, needs: null, run }),
    /** Defines a case that needs two projects: see `strangerTo`. */
    testOfTwo: (name: string, run: Body): void => void cases.push({ name, needs: "stranger", run }),
    testOfHead: (name: string, run: Body): void => void cases.push({ name, needs: "head", run }),
  };
}
