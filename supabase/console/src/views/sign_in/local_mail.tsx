/** Mail that a local stack shows instead of sending it. Other deployments have no such page. */
import { useEffect, useState } from "preact/hooks";
import * as z from "zod/mini";
import { config } from "../../config.ts";

const mailSchema = z.object({ to: z.string(), subject: z.string(), link: z.nullable(z.string()) });
const answerSchema = z.object({ mails: z.array(mailSchema) });
type Mail = z.infer<typeof mailSchema>;

export function LocalMail({ to }: { readonly to: string }) {
  const [mail, setMail] = useState<Mail | null>(null);
  useEffect(() => {
    if (!config().localMail) return;
    const loading = new AbortController();
    // Without an answer, this shows nothing: the terminal prints the mail, too.
    latestMail(to, loading.signal).then(setMail, () => {});
    return () => loading.abort();
  }, [to]);
  if (mail?.link?.startsWith(`${config().supabaseUrl}/`) !== true) return null;
  return (
    <section class="note" aria-label="Local mail">
      <p>Local mail: this is a local stack, which shows mail here instead of sending it.</p>
      <a href={mail.link}>{mail.subject}</a>
    </section>
  );
}

async function latestMail(to: string, signal: AbortSignal): Promise<Mail | null> {
  const response = await fetch("local_mail.json", { cache: "no-store", signal });
  if (!response.ok) return null;
  const { mails } = answerSchema.parse(await response.json());
  return mails.find((mail) => mail.to.toLowerCase() === to.toLowerCase()) ?? null;
}
