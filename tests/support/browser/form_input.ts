/** Invalid input in a form, and the form's response to it. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Locator, Page, Response } from "playwright-core";
import { press } from "./page_actions.ts";

export interface Input {
  /** The field's label. */
  readonly field: string;
  readonly value: string;
  readonly button: string;
  /** Values of other fields that the form requires. */
  readonly others?: Readonly<Record<string, string>>;
}

/** Fills in the field, submits the form, and expects the reason of the service's answer beside the field. */
export async function tryInput(
  page: Page,
  form: Page | Locator,
  { field, value, button, others = {} }: Input,
) {
  for (const [label, text] of Object.entries(others)) {
    await form.getByLabel(label, { exact: true }).fill(text);
  }
  const input = form.getByLabel(field, { exact: true });
  await input.fill(value);
  const reason = await refusalOf(page, () => press(form, button));
  assertStringIncludes(await descriptionOf(input), reason);
  assertEquals(await input.getAttribute("aria-invalid"), "true");
}

/** Returns the reason in the service's answer to the request that `submit` sends. */
export async function refusalOf(page: Page, submit: () => Promise<void>): Promise<string> {
  const answer = page.waitForResponse((response: Response) => response.status() >= 400);
  await submit();
  const body = await (await answer).json();
  const reason: unknown = body.details?.issues?.[0]?.reason ?? body.error?.message ?? body.msg;
  if (typeof reason !== "string" || reason === "") throw new Error(JSON.stringify(body));
  return reason;
}

/** Returns the field's description for a screen reader, and requires that it is visible. */
export async function descriptionOf(field: Locator): Promise<string> {
  const page = field.page();
  await field.and(page.locator("[aria-describedby$=problem], fieldset[aria-describedby]")).waitFor();
  const ids = (await field.getAttribute("aria-describedby") ?? "").split(" ");
  const texts = await Promise.all(ids.map(async (id) => {
    const text = page.locator(`[id="${id}"]`);
    assert(await text.isVisible(), `${id} is in view`);
    return await text.innerText();
  }));
  return texts.join(" ");
}
