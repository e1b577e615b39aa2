/** Batches of random operations, each of which is valid after the ones before it. */
import { type Random, randomFrom } from "../random.ts";
import { LARGE, type Operation } from "./operations.ts";

const PATHS = ["dir/old.txt", "dir/a.txt", "dir/deep/b.txt", "c.txt"];
const OPERATIONS_MAX = 8;

/** The batch for a seed, in a project that contains `dir/old.txt` with the content "old\n". */
export function randomBatch(seed: number): Operation {
  const random = randomFrom(seed);
  const contents = new Map([["dir/old.txt", "old\n"]]);
  const count = 2 + random.below(OPERATIONS_MAX - 1);
  const operations = Array.from({ length: count }, (_, index) => randomOperation(random, contents, index));
  return {
    name: `batch of seed ${seed}`,
    method: "POST",
    path: "/batch",
    body: { operations },
    writes: true,
  };
}

function randomOperation(random: Random, contents: Map<string, string>, index: number) {
  const path = random.pick(PATHS);
  const text = contents.get(path);
  const content = random.below(8) === 0 ? LARGE : `line ${index}\n`;
  // The first operation always stores bytes, so that uploads can fail.
  const kind = text === undefined || index === 0 ? 0 : random.below(7);
  switch (kind) {
    case 1:
      contents.set(path, text + content);
      return { op: "append", path, content };
    case 2:
      contents.set(path, content);
      return { op: "overwrite", path, content };
    case 3: {
      const oldString = text?.slice(0, 4) ?? "";
      const newString = `new ${index}`;
      if (oldString === "") return { op: "write", path, content: "" };
      contents.set(path, (text ?? "").replaceAll(oldString, newString));
      return { op: "edit", path, oldString, newString, replaceAll: true };
    }
    case 4:
      contents.delete(path);
      return { op: "delete", path };
    case 5:
    case 6: {
      const destination = random.pick(PATHS.filter((other) => other !== path));
      contents.set(destination, text ?? "");
      if (kind === 6) contents.delete(path);
      return { op: kind === 5 ? "copy" : "move", path, destination, overwrite: true };
    }
    default:
      contents.set(path, content);
      return { op: "write", path, content };
  }
}
