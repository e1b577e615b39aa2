/** `filestore login`: keeps the address and the key in the profile. */
import { FilestoreError } from "../library/errors.ts";
import { Filestore } from "../library/filestore.ts";
import { type Command, UsageError } from "./command.ts";
import { writeProfile } from "./connection.ts";
import { secretLine } from "./input.ts";
import { printJson, printLine } from "./output.ts";

export const LOGIN: Command = {
  usage: "login",
  summary: "read the key from standard input, check it, and keep it with the address for later commands",
  more: "--url is the base address of the service. Only you can read the file in which both are kept.",
  examples: ["login --url http://127.0.0.1:54321/functions/v1/api"],
  async run(context) {
    const url = context.text("url");
    if (url === undefined) throw new UsageError("login requires --url URL.");
    if (context.text("key") !== undefined) throw new UsageError("login reads the key from standard input.");
    const key = await secretLine(`Key for ${url}: `);
    if (key === "") throw new UsageError("Standard input has no key.");
    await check(new Filestore({ url, key }));
    const profile = await writeProfile({ url, key });
    await (context.isJson ? printJson({ url, profile }) : printLine(`${profile} has the key for ${url}.`));
  },
};

/** Throws if the service does not know the key. A key that may not read is known, too. */
async function check(store: Filestore): Promise<void> {
  try {
    await store.list().next();
  } catch (error) {
    if (!(error instanceof FilestoreError) || error.code !== "FORBIDDEN_SCOPE") throw error;
  }
}
