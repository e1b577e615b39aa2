/** The settings on the page "Connect" are those of supabase/docs/connect.md, with address and key filled in. */
import { assert, assertEquals } from "@std/assert";
import { clientsOf, fill } from "../../../supabase/console/src/views/connect/clients.ts";
import { readDocument } from "../../support/content/documents.ts";

const BASE_URL = "https://ref.supabase.co/functions/v1/api";
const KEY = "oa_test_0123456789";
/**
 * Forms of the key in the document: those that are replaced, and those that stay, in shared files and where a client asks
 * for it.
 */
const PLACES = [
  "${FILESTORE_API_KEY:?}",
  "${env:FILESTORE_API_KEY}",
  `"$FILESTORE_API_KEY"`,
  "FILESTORE_API_KEY=oa_...",
  "x-api-key: oa_...",
  "FILESTORE_API_KEY } = process.env",
  `os.environ["FILESTORE_API_KEY"]`,
];
const STAYS = ["${FILESTORE_API_KEY}", "${input:filestore-key}", `= "FILESTORE_API_KEY"`];

/** What a person pastes into an app that signs in. */
const SIGN_IN_ADDRESS = "http://127.0.0.1:54321/functions/v1/api/connect\n";

const { lines, blocks } = await readDocument("supabase/docs/connect.md");
const clients = clientsOf(lines.join("\n"));
const steps = clients.flatMap(({ name, steps }) => steps.map((step) => ({ name, step })));

Deno.test("connect: the page offers every block of code of the document, as it stands there", () => {
  const written = blocks.map(({ language, text }) => `${language}\n${text}`);
  const offered = steps.map(({ step: { language, template } }) => `${language}\n${template}`);
  assertEquals([...new Set(offered)].toSorted(), [...new Set(written)].toSorted());
});

Deno.test("connect: each text has the address and the key in place of what stood for them, and no variable is left", () => {
  for (const { name, step } of steps) {
    const text = fill(step, BASE_URL, KEY);
    const takesKey = PLACES.some((place) => step.template.includes(place));
    const needsNone = step.template === SIGN_IN_ADDRESS;
    assert(
      takesKey || needsNone || STAYS.some((place) => step.template.includes(place)),
      `${name} names no key`,
    );
    assertEquals(text.includes(KEY), takesKey, name);
    assertEquals(text.includes(BASE_URL), !/^(export|x-api-key)/.test(step.template), name);
    for (const left of [...PLACES, "${BASE_URL:?}", "process.env", "os.environ", "127.0.0.1"]) {
      assert(!text.includes(left), `${name} still has ${left}`);
    }
  }
});

Deno.test("connect: an app that signs in has an address without a key, and five steps; no other client has steps", () => {
  const apps = clients.filter(({ signIn }) => signIn.length > 0);
  assertEquals(apps.map(({ name, signIn }) => [name, signIn.length]), [["claude.ai", 5], ["ChatGPT", 5]]);
  for (const { steps: [first], signIn } of apps) {
    assertEquals(first?.template, SIGN_IN_ADDRESS);
    assert(
      signIn.every((text) => /^[A-Z].*[.:?]$/.test(text) && !/[`\n]|\]\(/.test(text)),
      signIn.join("\n"),
    );
  }
});

Deno.test("connect: nothing but address and key differs from the document", () => {
  for (const { name, step } of steps) {
    const { language, template } = step;
    const expected = language === "ts"
      ? template.replace(
        /^const \{ BASE_URL, FILESTORE_API_KEY \} = process\.env;$/m,
        `const BASE_URL = "${BASE_URL}";\nconst FILESTORE_API_KEY = "${KEY}";`,
      )
      : language === "python"
      ? template.replace(/os\.environ\["BASE_URL"\]/, `"${BASE_URL}"`)
        .replace(/os\.environ\["FILESTORE_API_KEY"\]/, `"${KEY}"`).replace(" os,", "")
      : template.split("http://127.0.0.1:54321/functions/v1/api").join(BASE_URL)
        .split("${BASE_URL:?}").join(BASE_URL)
        .split("${FILESTORE_API_KEY:?}").join(KEY)
        .split("${env:FILESTORE_API_KEY}").join(KEY)
        .split(`"$FILESTORE_API_KEY"`).join(`"${KEY}"`)
        .split("oa_...").join(KEY);
    assertEquals(fill(step, BASE_URL, KEY), expected, name);
  }
});
