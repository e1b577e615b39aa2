/** `deno task sweep`: runs slices of the sweep until all work that was due at its start is done. */
import { parseCommand, printLine, printNotice, run } from "./command_line.ts";
import { connect, CONNECTION_OPTIONS, CONNECTION_USAGE } from "./connection.ts";

const USAGE = `deno task sweep

  Removes the data of deleted projects, erased versions, versions beyond the retention rules, and objects of past days
  that no version references. The service also does so by itself, one slice at a time.
${CONNECTION_USAGE}`;

await run(USAGE, async () => {
  const { values } = parseCommand(Deno.args, CONNECTION_OPTIONS, USAGE);
  const to = await connect(values);
  let seen = 0;
  let removed = 0;
  const begun = new Date();
  for (let slice = await to.sweep(begun); !slice.isDone; slice = await to.sweep(begun)) {
    seen += slice.seen;
    removed += slice.removed;
    if (slice.seen > 0 && !values.json) printNotice(`Checked ${seen} objects, removed ${removed} …`);
  }
  printLine(values.json ? JSON.stringify({ seen, removed }) : `Removed ${removed} of ${seen} objects.`);
});
