/** Edits of one file at the same time: they take turns, keep what is appended meanwhile, and upload nothing in vain. */
import { assert, assertEquals } from "@std/assert";
import {
  COMPACTION_CHECK_EVERY_SEGMENTS,
  SEGMENT_LIST_MAX_BASE,
} from "../../supabase/functions/api/limits.ts";
import { assertRefused, dataOf, editRecord } from "../support/client/contract.ts";
import type { ProjectFiles } from "../support/client/files.ts";
import { unreferencedObjects } from "../support/client/stored.ts";
import { NO_OBJECTS, trafficOf } from "../support/client/traffic.ts";
import type { Hook } from "../support/stack/proxy.ts";
import { inParallel } from "../support/in_parallel.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

const PATH = "shared.txt";
const TEXT = "one\ntwo\nthree\n";
/** What an edit of a short file costs that meets nobody. */
const READ_UPLOAD_COMMIT = { database: ["filestore_content", "filestore_commit"], puts: 1 };

async function withFile(text = TEXT): Promise<ProjectFiles> {
  const own = await files();
  await own.write(PATH, text);
  return own;
}

/** The number of uploads, and the calls of the database. */
async function costOf(work: () => Promise<unknown>) {
  const { database, puts } = await trafficOf(service, work);
  return { database, puts };
}

async function withHook(hook: Hook, work: () => Promise<unknown>): Promise<void> {
  service.proxy.hook = hook;
  try {
    await work();
  } finally {
    service.proxy.hook = null;
  }
}

/** Does `change` when the first upload of `request` is about to be stored: after the edit has read, before it commits. */
async function duringEdit(change: () => Promise<unknown>, request: () => Promise<unknown>): Promise<void> {
  let isFirst = true;
  await withHook(async ({ target, method }, forward) => {
    if (target === "storage" && method === "POST" && isFirst) {
      isFirst = false;
      await change();
    }
    return await forward();
  }, request);
  assert(!isFirst, "nothing was uploaded");
}

/** As another isolate would hold the turn, or its place in the line. */
async function otherHolder(own: ProjectFiles, seconds: number): Promise<void> {
  await service.sql(
    `insert into filestore.edit_turns (project_id, path, holder, asked_at, expires_at)
     values ($1, $2, gen_random_uuid(), now() - interval '1 minute', clock_timestamp() + make_interval(secs => $3))`,
    [own.project.id, PATH, seconds],
  );
}

function turns(own: ProjectFiles): Promise<unknown[]> {
  return service.sql("select from filestore.edit_turns where project_id = $1", [own.project.id]);
}

test("16 clients edit 4 lines each of one file at the same time: all succeed, each with 1 upload and 2 calls", async () => {
  const [clients, edits] = [16, 4];
  const line = (client: number, index: number) => `client ${client}: ${index};`;
  const all = Array.from({ length: clients }, (_, client) => client);
  const own = await withFile(all.map((client) => `${line(client, 0)}\n`).join(""));
  const cost = await trafficOf(service, () =>
    Promise.all(all.map(async (client) => {
      for (let index = 0; index < edits; index++) {
        await own.edit(PATH, line(client, index), line(client, index + 1));
      }
    })));
  const count = clients * edits;
  assertEquals({ ...cost, database: cost.database.length }, {
    ...NO_OBJECTS,
    puts: count,
    database: 2 * count,
  });
  const { content, version } = await own.read(PATH);
  assertEquals([content, version], [all.map((client) => `${line(client, edits)}\n`).join(""), count + 1]);
});

test("edits of different files do not wait for each other: one that hangs holds up its own file's only", async () => {
  const own = await withFile();
  await own.write("other.txt", TEXT);
  const hang = Promise.withResolvers<void>();
  const hangs = Promise.withResolvers<void>();
  let isFirst = true;
  await withHook(async ({ target, method }, forward) => {
    if (target === "storage" && method === "POST" && isFirst) {
      isFirst = false;
      hangs.resolve();
      await hang.promise;
    }
    return await forward();
  }, async () => {
    const edited: string[] = [];
    const note = (what: string) => () => edited.push(what);
    const first = own.edit(PATH, "one", "1").then(note("first"));
    await hangs.promise;
    const second = own.edit(PATH, "two", "2").then(note("second"));
    await own.edit("other.txt", "one", "1").then(note("other file"));
    assertEquals(edited, ["other file"]);
    hang.resolve();
    await Promise.all([first, second]);
    assertEquals(edited, ["other file", "first", "second"]);
  });
  assertEquals((await own.read(PATH)).content, "1\n2\nthree\n");
});

test("what is appended while an edit uploads is kept, by many appends too: 1 upload of the edit, no second try", async () => {
  const own = await withFile();
  const appends = 3 * COMPACTION_CHECK_EVERY_SEGMENTS;
  const added = Array.from({ length: appends }, (_, index) => `added ${index}\n`);
  let edited = 0;
  const cost = await costOf(() =>
    duringEdit(async () => {
      for (const line of added) await own.append(PATH, line);
    }, async () => {
      edited = (await own.edit(PATH, "two", "2")).version;
    })
  );
  assertEquals(cost.puts, appends + 1, "no compaction took the segment away that the edit replaces");
  assertEquals(cost.database.filter((name) => name === "filestore_content").length, 1);
  const { content, version } = await own.read(PATH);
  assertEquals([content, version], [`one\n2\nthree\n${added.join("")}`, appends + 2]);
  assertEquals(edited, version);
  assertEquals((await own.read(PATH, { version: version - 1 })).content, TEXT + added.join(""));
  assertEquals(await unreferencedObjects(service, own.project.id), 0);
});

test("an edit keeps what is appended while it uploads though the list that it has read is compacted: no second try", async () => {
  const own = await withFile();
  for (const line of ["four\n", "five\n"]) await own.append(PATH, line);
  // Longer than what was there before: the cheapest run begins with what the edit has read.
  const longer = "longer, ".repeat(8);
  const added = Array.from(
    { length: SEGMENT_LIST_MAX_BASE / 2 + 16 },
    (_, index) => `${longer}added ${index}\n`,
  );
  const appendAll = () => inParallel(added, 8, (line) => own.append(PATH, line));
  const cost = await costOf(() => duringEdit(appendAll, () => own.edit(PATH, "four", "4")));
  const calls = (name: string) => cost.database.filter((called) => called === name).length;
  assert(calls("filestore_compact") > 0, "nothing was compacted");
  assertEquals([calls("filestore_content"), calls("filestore_edit_turn")], [1, 0]);
  const { content } = await own.read(PATH);
  const before = `${TEXT}4\nfive\n`;
  assertEquals(content.slice(0, before.length), before);
  assertEquals(content.slice(before.length).match(/.+\n/g)?.sort(), added.toSorted());
  const [file] = await service.sql<{ segments: number }>(
    "select cardinality(segment_ids) as segments from filestore.files where project_id = $1",
    [own.project.id],
  );
  assert((file?.segments ?? 0) < added.length, "what was compacted stays so");
  assertEquals((await own.edit(PATH, "added 0\n", "added first\n")).version, added.length + 5);
  assertEquals(await unreferencedObjects(service, own.project.id), 0);
});

test("an edit and appends of lines of one large file: the pieces that the edit does not touch are neither read nor sent", async () => {
  const large = "0123456789abcde\n".repeat(3 * 65_536);
  const own = await withFile(`first line\n${large}`);
  await duringEdit(() => own.append(PATH, "last line\n"), () => own.edit(PATH, "first line", "line 1"));
  assert((await own.read(PATH)).content === `line 1\n${large}last line\n`);
});

const REWRITES: Readonly<Record<string, (own: ProjectFiles) => Promise<unknown>>> = {
  "an overwrite": (own) => own.overwrite(PATH, `new\n${TEXT}`),
  "a write": (own) => own.write(PATH, `new\n${TEXT}`),
  "a delete and a write": async (own) => {
    await own.remove(PATH);
    await own.write(PATH, `new\n${TEXT}`);
  },
  "an overwrite and an append": async (own) => {
    await own.overwrite(PATH, "new\n");
    await own.append(PATH, TEXT);
  },
};

for (const [name, change] of Object.entries(REWRITES)) {
  test(`${name} while an edit uploads: the edit is made once more, of that`, async () => {
    const own = await withFile();
    await duringEdit(() => change(own), () => own.edit(PATH, "two", "2"));
    assertEquals((await own.read(PATH)).content, "new\none\n2\nthree\n");
    assertEquals(await unreferencedObjects(service, own.project.id), 0);
    assertEquals(await turns(own), [], "the turn is handed on");
  });
}

test("what really conflicts is refused: the string is gone, the version is another one, the file changes each time", async () => {
  const own = await withFile();
  await duringEdit(() => own.overwrite(PATH, "none of them\n"), async () => {
    assertRefused(await own.tryEdit(PATH, "two", "2"), "STRING_NOT_FOUND", "write_file");
  });
  await own.overwrite(PATH, TEXT);
  const tag = await own.tag(PATH);
  await duringEdit(() => own.append(PATH, "four\n"), async () => {
    const body = { oldString: "two", newString: "2" };
    assertRefused(
      await own.put("edit", PATH, body, { "if-match": tag }),
      "PRECONDITION_FAILED",
      "write_file",
    );
  });
  let changes = 0;
  await withHook(async ({ path }, forward) => {
    const answer = await forward();
    // Read by the edit; whoever rewrites the file does not read it.
    if (/filestore_(content|edit_turn)$/.test(path) && changes < 20) {
      await own.overwrite(PATH, `${++changes}\n${TEXT}`);
    }
    return answer;
  }, async () => {
    assertRefused(await own.tryEdit(PATH, "two", "2"), "VERSION_CONFLICT", "write_file");
  });
  assertEquals((await own.read(PATH)).content, `${changes}\n${TEXT}`);
  assertEquals(await turns(own), []);
  assertEquals(await unreferencedObjects(service, own.project.id), 0);
});

test("turns among isolates: those who asked earlier come first; an edit uploads once it is its turn, and hands it on", async () => {
  const own = await withFile();
  assertEquals(
    await costOf(() => own.edit(PATH, "one", "1")),
    READ_UPLOAD_COMMIT,
    "where nobody takes turns",
  );
  await otherHolder(own, 600);
  let asked = 0;
  const cost = await costOf(() =>
    withHook(async ({ path }, forward) => {
      const answer = await forward();
      // The other one is ready once this one has asked twice.
      if (path.endsWith("filestore_edit_turn") && ++asked === 2) {
        await own.overwrite(PATH, `new\n${TEXT}`);
        await service.sql("delete from filestore.edit_turns where asked_at < now() - interval '30 seconds'");
      }
      return answer;
    }, () => own.edit(PATH, "two", "2"))
  );
  assertEquals(cost.database, [
    "filestore_content",
    "filestore_edit_turn",
    // The other one's overwrite, before this one has the answer.
    "filestore_commit",
    "filestore_edit_turn",
    "filestore_edit_turn",
    "filestore_commit",
    "filestore_edit_turn",
  ]);
  assertEquals(cost.puts, 2, "the overwrite, and the edit");
  assertEquals((await own.read(PATH)).content, "new\none\n2\nthree\n");
  assertEquals(await turns(own), []);
});

test("the turn of an isolate that has ended expires", async () => {
  const own = await withFile();
  await otherHolder(own, -1);
  await duringEdit(() => own.overwrite(PATH, `new\n${TEXT}`), () => own.edit(PATH, "two", "2"));
  assertEquals((await own.read(PATH)).content, "new\none\n2\nthree\n");
  assertEquals(await turns(own), [], "and is cleared away");
});

test("while edits take turns, appends add segments of their own, which are compacted apart from them", async () => {
  const own = await withFile();
  await otherHolder(own, 600);
  const appends = 5 * COMPACTION_CHECK_EVERY_SEGMENTS;
  let content = TEXT;
  const append = async () => {
    for (let index = 0; index < appends; index++) {
      content += `${index}\n`;
      await own.append(PATH, `${index}\n`);
    }
  };
  /** Versions that end in a segment of more than what was appended, and segments of the file. */
  const mixed = async () => {
    const [row] = await service.sql<{ mixed: number; segments: number }>(
      `select count(*) filter (where s.size <> v.size - b.size)::integer as mixed,
         max(cardinality(f.segment_ids)) as segments
       from filestore.files f
       join filestore.file_versions v on v.file_id = f.id
       join filestore.file_versions b on b.file_id = f.id and b.version = v.version - 1
       join filestore.segments s on s.id = v.segment_ids[cardinality(v.segment_ids)] and s.project_id = f.project_id
       where f.project_id = $1`,
      [own.project.id],
    );
    return { isMixed: (row?.mixed ?? 0) > 0, isCompacted: (row?.segments ?? 0) < appends / 2 };
  };
  await append();
  assertEquals(await mixed(), { isMixed: false, isCompacted: true });
  await service.sql("delete from filestore.edit_turns where project_id = $1", [own.project.id]);
  await append();
  assertEquals(await mixed(), { isMixed: true, isCompacted: true }, "once no edit is expected");
  assertEquals((await own.read(PATH)).content, content);
});

test("Idempotency-Key: two equal edits at the same time are one, and both get its answer", async () => {
  const own = await withFile();
  const send = () =>
    own.put("edit", PATH, { oldString: "two", newString: "two and two" }, { "idempotency-key": "once" });
  const answers = await Promise.all([send(), send(), send()]);
  const records = answers.map((answer) => dataOf(answer, "write_file", editRecord));
  assertEquals(records.map(({ version }) => version), [2, 2, 2]);
  assertEquals((await own.read(PATH)).content, "one\ntwo and two\nthree\n");
});
