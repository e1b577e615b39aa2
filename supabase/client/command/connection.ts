/** The address and the key: from options, from the environment, or from the profile that `login` writes. */
import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { env } from "node:process";
import { Failure } from "../failure.ts";
import { isObject, parsed } from "../library/answer.ts";
import { messageOf } from "../library/errors.ts";

export interface Credentials {
  readonly url: string;
  readonly key: string;
}

/** Finds the credentials where the command line and the environment have none. */
export type Fallback = () => Promise<Credentials | null>;

type Partly = Partial<Record<keyof Credentials, string | undefined>>;

/**
 * The credentials to use; null: there are none. The profile is used only as a whole, so that its key is sent to no
 * other address. Throws `Failure` if there is only one of the two.
 */
export async function credentials(options: Partly, fallback: Fallback): Promise<Credentials | null> {
  const url = options.url ?? (env["FILESTORE_URL"] || undefined);
  const key = options.key ?? (env["FILESTORE_KEY"] || undefined);
  if (url !== undefined && key !== undefined) return { url, key };
  if (url === undefined && key === undefined) return await readProfile() ?? await fallback();
  return null;
}

export function profilePath(): string {
  return join(env["XDG_CONFIG_HOME"] || join(homedir(), ".config"), "filestore");
}

async function readProfile(): Promise<Credentials | null> {
  const path = profilePath();
  const text = await readFile(path, "utf8").catch((error) => {
    if (Reflect.get(Object(error), "code") === "ENOENT") return null;
    throw new Failure(`The profile ${path} cannot be read (${messageOf(error)}).`);
  });
  if (text === null) return null;
  const profile = parsed(text);
  if (isObject(profile) && typeof profile["url"] === "string" && typeof profile["key"] === "string") {
    return { url: profile["url"], key: profile["key"] };
  }
  throw new Failure(`The profile ${path} is damaged; write it again with login.`);
}

/** Only its owner can read the profile, at no time anybody else. */
export async function writeProfile({ url, key }: Credentials): Promise<string> {
  const path = profilePath();
  const temporary = `${path}.${crypto.randomUUID()}`;
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(temporary, `${JSON.stringify({ url, key })}\n`, { mode: 0o600 });
    await chmod(temporary, 0o600);
    await rename(temporary, path);
  } catch (error) {
    throw new Failure(`The profile ${path} cannot be written (${messageOf(error)}).`);
  }
  return path;
}
