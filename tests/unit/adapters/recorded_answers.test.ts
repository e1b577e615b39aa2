/** Handling of answers recorded from real servers: which calls may have taken effect, and which faults need the operator. */
import { assertEquals, assertRejects } from "@std/assert";
import { Notices } from "../../../supabase/functions/api/adapters/notices.ts";
import { callFunction } from "../../../supabase/functions/api/adapters/rpc.ts";
import { supabaseAccounts } from "../../../supabase/functions/api/adapters/supabase_metadata.ts";
import { SupabaseSegments } from "../../../supabase/functions/api/adapters/supabase_segments.ts";
import { ApiError } from "../../../supabase/functions/api/errors.ts";
import { BACKEND_TRIES_MAX } from "../../../supabase/functions/api/limits.ts";
import { Deadline } from "../../../supabase/functions/api/runtime/deadline.ts";
import { client, silent } from "../../support/stack/supabase_client.ts";
import { recordedAnswer, recordedFor, type RecordedName } from "../../support/faults/recorded_answers.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { segmentOf } from "../segment_of.ts";

/** A back end that gives this answer to the first `times` calls, and a successful one afterwards. */
function answering(name: RecordedName, times: number) {
  const { status, type, body } = recordedAnswer(name);
  const clock = new ManualClock();
  const problems: string[] = [];
  const log = { ...silent, actionRequired: (problem: string) => void problems.push(problem) };
  const parts = { log, notices: new Notices(log, clock), deadline: new Deadline(Infinity, clock) };
  let calls = 0;
  const supabase = client("http://supabase.example", "key", () =>
    Promise.resolve(
      ++calls <= times
        ? new Response(body, { status, headers: { "content-type": type } })
        : Response.json({ Id: "id", Key: "key", value: true }),
    ));
  const run = <T>(work: Promise<T>) => clock.runUntil(work, () => Infinity);
  return { supabase, parts, problems, run, calls: () => calls };
}

/** The answers that prove that nothing was done. */
const UNDONE: readonly RecordedName[] = [
  ...["tooManyConnections", "readOnlyDatabase", "unknownFunction", "wrongSignature", "noJwt"] as const,
  ...["anonymousKey", "invalidApiKey", "unregisteredApiKey", "legacyKeysDisabled"] as const,
  ...["kongCredentials", "cloudflareBlocked"] as const,
];

const PROBLEMS: Partial<Record<RecordedName, string>> = {
  readOnlyDatabase: "database_read_only",
  storageReadOnly: "database_read_only",
  unknownFunction: "function_unknown",
  storageBucketNotFound: "bucket_missing",
  ...Object.fromEntries(
    [
      ...["wrongSignature", "noJwt", "anonymousKey", "invalidApiKey", "unregisteredApiKey"],
      ...["legacyKeysDisabled", "kongCredentials", "storageRefusesKey"],
    ].map((name) => [name, "secret_key_refused"]),
  ),
};

for (const name of recordedFor("filestore_commit")) {
  Deno.test(`callFunction: ${name} is tried again; it is lost unless nothing can have been done`, async () => {
    const { supabase, parts, problems, run } = answering(name, 1);
    let lost = 0;
    const value = await run(callFunction(supabase, parts, "f", {}, { onLost: () => lost++ }));
    assertEquals(Object(value).value, true);
    assertEquals(lost, UNDONE.includes(name) ? 0 : 1);
    assertEquals(problems, name in PROBLEMS ? [PROBLEMS[name]] : []);
  });

  Deno.test(`callFunction: ${name} that lasts is 503 after ${BACKEND_TRIES_MAX} tries, and one line for the operator at most`, async () => {
    const { supabase, parts, problems, run, calls } = answering(name, Infinity);
    const error = await assertRejects(() => run(callFunction(supabase, parts, "f", {})), ApiError);
    assertEquals([error.status, error.headers?.["Retry-After"], calls()], [503, "2", BACKEND_TRIES_MAX]);
    assertEquals(problems.length, name in PROBLEMS ? 1 : 0);
  });
}

const SEGMENT = segmentOf("p/20250101/00000000-0000-4000-8000-000000000000", 1, {
  sha256: "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
});

for (const name of recordedFor("upload")) {
  Deno.test(`SupabaseSegments: ${name} is tried again by every method; where it lasts it is 503`, async () => {
    const methods: readonly ((segments: SupabaseSegments) => Promise<unknown>)[] = [
      (segments) => segments.put(SEGMENT, new Uint8Array([97])),
      (segments) => segments.remove([SEGMENT.name]),
      (segments) => segments.list("p", "2025-01-01", 0, 1),
      (segments) => segments.get(SEGMENT),
      (segments) => segments.probe(),
    ];
    for (const method of methods) {
      const { supabase, parts, problems, run, calls } = answering(name, Infinity);
      const segments = new SupabaseSegments(() => supabase, parts);
      const error = await assertRejects(() => run(method(segments)), ApiError);
      const isMissing = name === "storageObjectNotFound" && method === methods[3];
      assertEquals([error.code, calls()], [
        isMissing ? "CONTENT_CORRUPT" : "SERVICE_UNAVAILABLE",
        BACKEND_TRIES_MAX,
      ]);
      assertEquals(problems, name in PROBLEMS ? [PROBLEMS[name]] : []);
    }
    const { supabase, parts, run, calls } = answering(name, 1);
    await run(new SupabaseSegments(() => supabase, parts).put(SEGMENT, new Uint8Array([97])));
    assertEquals(calls(), 2);
  });
}

Deno.test("SupabaseAccounts: a token that is refused is INVALID_SESSION; a key that is refused is the operator's fault", async () => {
  for (const name of ["wrongSignature", "noJwt", "anonymousKey"] as const) {
    const { supabase, parts, problems, run, calls } = answering(name, Infinity);
    const answer = await run(supabaseAccounts(() => supabase, parts).projects("a.b.c"));
    assertEquals([answer.ok, calls(), problems], [false, 1, []], name);
  }
  const refused = ["invalidApiKey", "unregisteredApiKey", "legacyKeysDisabled", "kongCredentials"] as const;
  for (const name of refused) {
    const { supabase, parts, problems, run } = answering(name, Infinity);
    const projects = () => run(supabaseAccounts(() => supabase, parts).projects("a.b.c"));
    const error = await assertRejects(projects, ApiError);
    assertEquals([error.code, problems], ["SERVICE_UNAVAILABLE", ["publishable_key_refused"]], name);
  }
});
