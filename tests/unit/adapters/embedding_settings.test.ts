/** Settings of an embeddings endpoint: the function names missing and out-of-range ones when it starts. */
import { assertEquals, assertThrows } from "@std/assert";
import { embeddingSettings } from "../../../supabase/functions/api/adapters/embedding_settings.ts";
import { EMBEDDING_DIMENSIONS_MAX } from "../../../supabase/functions/api/limits.ts";

type Variables = Readonly<Record<string, string>>;
const read = (variables: Variables) => embeddingSettings((name) => variables[name]);
const ENDPOINT = { EMBEDDINGS_URL: "http://e/v1", EMBEDDINGS_MODEL: "m", EMBEDDINGS_API_KEY: "k" };
const PRESENT = { url: "http://e/v1", model: "m", apiKey: "k", dimensions: undefined };

Deno.test("without an address there is no endpoint, whatever else is set", () => {
  assertEquals(read({}), null);
  assertEquals(read({ EMBEDDINGS_URL: "", EMBEDDINGS_MODEL: "m", EMBEDDINGS_DIMENSIONS: "x" }), null);
});

Deno.test("an endpoint without a model is refused by name", () => {
  assertThrows(() => read({ EMBEDDINGS_URL: "http://e/v1" }), Error, "EMBEDDINGS_MODEL");
});

Deno.test("a number of dimensions is whole and within the bounds", () => {
  assertEquals(read(ENDPOINT), { present: PRESENT, former: undefined });
  for (const dimensions of [undefined, 1, EMBEDDING_DIMENSIONS_MAX]) {
    const EMBEDDINGS_DIMENSIONS = `${dimensions ?? ""}`;
    assertEquals(read({ ...ENDPOINT, EMBEDDINGS_DIMENSIONS })?.present, { ...PRESENT, dimensions });
  }
  for (const value of ["0", "-1", "1.5", "1e3", "0x10", "512 ", "many", `${EMBEDDING_DIMENSIONS_MAX + 1}`]) {
    const variables = { ...ENDPOINT, EMBEDDINGS_DIMENSIONS: value };
    assertThrows(() => read(variables), Error, "EMBEDDINGS_DIMENSIONS", value);
  }
});

Deno.test("the model before is at the same endpoint unless another one is named", () => {
  const former = (variables: Variables) => read({ ...ENDPOINT, ...variables })?.former;
  assertEquals(former({ EMBEDDINGS_FORMER_MODEL: "old" }), { ...PRESENT, model: "old" });
  assertEquals(former({ EMBEDDINGS_FORMER_MODEL: "old@256" }), { ...PRESENT, model: "old", dimensions: 256 });
  assertEquals(former({ EMBEDDINGS_FORMER_MODEL: "@of/some@v2" }), { ...PRESENT, model: "@of/some@v2" });
  const elsewhere = { EMBEDDINGS_FORMER_URL: "http://f/v1", EMBEDDINGS_FORMER_API_KEY: "l" };
  const there = { ...PRESENT, model: "old", url: "http://f/v1", apiKey: "l" };
  assertEquals(former({ EMBEDDINGS_FORMER_MODEL: "old", ...elsewhere }), there);
  assertThrows(() => former({ EMBEDDINGS_FORMER_MODEL: "old@0" }), Error, "EMBEDDINGS_FORMER_MODEL");
});
