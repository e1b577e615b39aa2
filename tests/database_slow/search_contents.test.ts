/**
 * The search index stores a content of several files once. This does not change the results: a project with shared
 * contents answers like one whose texts are all stored in the rows of their files.
 */
import { assert, assertEquals, assertGreater } from "@std/assert";
import { limitChange } from "../support/postgres/change_limit.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { type Json, makeProject, type Project } from "../support/postgres/postgres_filestore.ts";
import { connect, createMigrated } from "../support/postgres/postgres_hosted.ts";
import { storeTexts } from "../support/postgres/search_texts.ts";
import { type Random, randomFrom, SEED } from "../support/random.ts";
import { sqlNumber } from "../support/postgres/sql_number.ts";

const SEARCH_SHARED_BYTES_MIN = sqlNumber("01_limits.sql", "search_shared_bytes_min");

const WORDS =
  "alpha beta gamma delta notes plan report meeting rate limit budget harbour violet engine river stone"
    .split(
      " ",
    );
const FILES = 60;
const QUERIES = 400;
const CONTENTS = 20;

const server = await startPostgres();
const database = await createMigrated(server, "search_contents");
const sql = connect(database.superuserUrl, 1);
Deno.test.afterAll(async () => {
  await sql.end();
  await server.stop();
});

interface Text {
  readonly path: string;
  readonly content: string | null;
}

function some(random: Random, count: number): string[] {
  return Array.from({ length: count }, () => random.pick(WORDS));
}

/** Half of the contents are long enough to be shared, and most files have the content of another file. */
function textsOf(random: Random): Text[] {
  const contents = Array.from({ length: CONTENTS }, (_, n) => {
    const words = some(random, 2 + random.below(5)).join(" ");
    return n % 2 === 0 ? words : `${words}\n${"filler ".repeat(SEARCH_SHARED_BYTES_MIN / 6)}\n${words}`;
  });
  return Array.from({ length: FILES }, (_, n) => ({
    path: `${some(random, 1 + random.below(3)).join("/")}/${random.pick(WORDS)}-${n}.md`,
    content: n % 10 === 0 ? null : random.pick(contents),
  }));
}

async function addFile(project: Project, path: string): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    insert into filestore.files (project_id, path, version, mime_type, size, segment_ids, created_at, updated_at)
    values (${project.id}, ${path}, 1, 'text/markdown', 1, '{}', now(), now()) returning id`;
  if (row === undefined) throw new Error("no file");
  return row.id;
}

/** From now on, texts below this number of bytes are stored in the rows of their files. */
async function shareFrom(bytes: number): Promise<void> {
  await sql.unsafe(
    await limitChange("search_shared_bytes_min", bytes, async (call) => {
      const [row] = await sql.unsafe<{ definition: string }[]>(`select ${call} as definition`);
      return row?.definition;
    }),
  );
}

const ALL = { directory: "", files: 100, skip: 0, bytes: 4_000_000 };

function queryOf(random: Random): Json {
  const word = () => random.pick(WORDS);
  const filter = {
    ...ALL,
    directory: random.below(4) === 0 ? word() : "",
    ...random.below(6) === 0 && { glob: `(^|/)${word()}[^/]*$` },
  };
  if (random.below(3) === 0) {
    const literal = () => random.pick([word(), word().slice(0, 2), `${word()} ${word()}`, word().slice(1)]);
    const clauses = Array.from({ length: random.below(3) }, () => [literal()]);
    return { ...filter, kind: "scan", clauses, caseSensitive: random.below(2) === 0 };
  }
  const terms = Array.from(
    { length: 1 + random.below(4) },
    () =>
      random.pick([word(), word(), word(), `${word()} or ${word()}`, `-${word()}`, `"${word()} ${word()}"`]),
  );
  return { ...filter, kind: "rank", words: terms.join(" ") };
}

interface Page {
  readonly files: readonly {
    file: { path: string };
    content: string;
    score: number;
    skipped: string | null;
  }[];
}

async function ask({ keyHash }: Project, query: Json): Promise<Page> {
  const [row] = await sql<{ answer: { value: Page } }[]>`
    select public.filestore_search(${keyHash}, null, ${JSON.stringify(query)}::text::jsonb) as answer`;
  if (row === undefined) throw new Error("no answer");
  return row.answer.value;
}

async function contentsOf({ id }: Project): Promise<{ stored: number; named: number }> {
  const [row] = await sql<{ stored: number; named: number }[]>`
    select (select count(*)::integer from filestore.search_contents where project_id = ${id}) as stored,
      (select count(distinct content_hash)::integer from filestore.search_texts where project_id = ${id}) as named`;
  if (row === undefined) throw new Error("no row");
  return row;
}

Deno.test("a project with shared contents finds what one without them finds, in the same order", async () => {
  const random = randomFrom(SEED);
  const texts = textsOf(random);
  const fill = async (name: string) => {
    const project = await makeProject(sql, name);
    for (const text of texts) {
      await storeTexts(sql, [{ ...text, project, fileId: await addFile(project, text.path) }]);
    }
    return project;
  };
  const sharing = await fill("sharing");
  await shareFrom(1_000_000_000);
  const apart = await fill("apart");
  await shareFrom(SEARCH_SHARED_BYTES_MIN);
  const { stored } = await contentsOf(sharing);
  assert(stored > 1 && stored <= CONTENTS / 2, `${stored} contents`);
  assertEquals((await contentsOf(apart)).stored, 0);
  const found = { rank: 0, scan: 0, mixed: 0 };
  const compare = async (kind: keyof typeof found, query: Json) => {
    const seen = ({ files }: Page) =>
      files.map(({ file, content, score, skipped }) => [file.path, content, score, skipped]);
    const [one, other] = [await ask(sharing, query), await ask(apart, query)];
    assertEquals(seen(one), seen(other), `${JSON.stringify(query)} (seed ${SEED})`);
    if (one.files.length > 0) found[kind]++;
  };
  for (let n = 0; n < QUERIES; n++) {
    const query = queryOf(random);
    await compare(query["kind"] === "scan" ? "scan" : "rank", query);
  }
  for (const { path, content } of texts) {
    const named = WORDS.filter((word) => path.includes(word) && !content?.includes(word));
    const written = WORDS.filter((word) => content?.includes(word) && !path.includes(word));
    if (named.length === 0 || written.length === 0 || (content?.length ?? 0) < SEARCH_SHARED_BYTES_MIN) {
      continue;
    }
    for (const words of [[random.pick(named), random.pick(written)], [...named, ...written]]) {
      await compare("mixed", { ...ALL, kind: "rank", words: words.join(" ") });
    }
  }
  for (const [kind, count] of Object.entries(found)) assertGreater(count, 5, `${kind} (seed ${SEED})`);
});

Deno.test("concurrent stores and deletions: a content exists exactly while a file has it", async () => {
  const project = await makeProject(sql, "concurrent");
  const contents = Array.from({ length: 3 }, (_, n) => `content ${n} `.repeat(SEARCH_SHARED_BYTES_MIN));
  const connections = Array.from({ length: 4 }, () => connect(database.superuserUrl, 1));
  try {
    await Promise.all(connections.map(async (connection, worker) => {
      const random = randomFrom(SEED + worker);
      const files = await Promise.all(
        Array.from({ length: 3 }, async (_, n) => ({
          project,
          path: `${worker}/${n}`,
          fileId: await addFile(project, `${worker}/${n}`),
        })),
      );
      for (let version = 1; version <= 60; version++) {
        const leased = files.slice(random.below(files.length)).map((file) => ({
          ...file,
          version,
          isDeleted: random.below(3) === 0,
          content: random.pick(contents),
        }));
        await storeTexts(connection, leased);
      }
    }));
    const { stored, named } = await contentsOf(project);
    assertEquals(stored, named);
    await sql`delete from filestore.search_texts where project_id = ${project.id}`;
    assertEquals(await contentsOf(project), { stored: 0, named: 0 });
  } finally {
    for (const connection of connections) await connection.end();
  }
});
