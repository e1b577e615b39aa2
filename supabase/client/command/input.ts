/** What a command reads: files, standard input, and answers at a terminal. */
import { stat } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import { stderr, stdin } from "node:process";
import { Failure } from "../failure.ts";
import { messageOf } from "../library/errors.ts";
import type { Content } from "../library/options.ts";
import { fileStream } from "../transfer/file_stream.ts";

/** The content of a file, or with `-` of standard input, which is held so that it can be sent again. */
export async function contentOf(name: string): Promise<Content> {
  if (name === "-") return await standardInput();
  const info = await stat(name).catch((error) => {
    throw new Failure(`${name} cannot be read (${messageOf(error)}).`);
  });
  if (!info.isFile()) throw new Failure(`${name} is not a file.`);
  return () => fileStream(name);
}

async function standardInput(): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of stdin) {
    parts.push(typeof part === "string" ? new TextEncoder().encode(part) : part);
  }
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let length = 0;
  for (const part of parts) {
    all.set(part, length);
    length += part.length;
  }
  return all;
}

/** The first line of standard input. At a terminal it asks for it, and does not show what is typed. */
export async function secretLine(question: string): Promise<string> {
  if (stdin.isTTY !== true) return firstLine(new TextDecoder().decode(await standardInput()));
  stderr.write(question);
  stdin.setRawMode(true);
  let typed = "";
  try {
    for await (const part of stdin) {
      // Control-C and Control-D end the question without an answer.
      if (["\x03", "\x04"].some((control) => String(part).includes(control))) {
        throw new Failure("Nothing was changed.");
      }
      typed += String(part);
      if (/[\r\n]/.test(typed)) break;
    }
  } finally {
    stdin.setRawMode(false);
    stderr.write("\n");
  }
  return firstLine(typed);
}

/** What a person answers; null without a terminal. */
export async function answerTo(question: string): Promise<string | null> {
  if (stdin.isTTY !== true) return null;
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    return await lines.question(`${question} `);
  } finally {
    lines.close();
  }
}

function firstLine(text: string): string {
  return (text.split(/[\r\n]/, 1)[0] ?? "").trim();
}
