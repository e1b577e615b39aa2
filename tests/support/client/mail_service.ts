/** A mail service on this machine, as an operator sets it: it takes mails as Resend's API does. */
import { z } from "zod";

const mail = z.strictObject({
  from: z.string(),
  to: z.array(z.string()).min(1),
  subject: z.string(),
  text: z.string(),
});
export type TakenMail = z.infer<typeof mail> & { readonly authorization: string | null };

export const MAIL_FROM = "Filestore <files@example.org>";
export const MAIL_KEY = "key-of-the-mail-service";

export class MailService {
  /** What arrived, in order, whatever the answer was. */
  readonly taken: TakenMail[] = [];
  behaviour: () => Response | Promise<Response> = ok;
  readonly #server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    this.taken.push({
      ...mail.parse(await request.json()),
      authorization: request.headers.get("authorization"),
    });
    return await this.behaviour();
  });

  /** The settings with which the function uses it. */
  get variables(): Record<string, string> {
    const { port } = this.#server.addr;
    return { MAIL_URL: `http://127.0.0.1:${port}/emails`, MAIL_KEY, MAIL_FROM };
  }

  to(address: string): TakenMail[] {
    return this.taken.filter(({ to }) => to.includes(address));
  }

  accept(): void {
    this.behaviour = ok;
  }

  async stop(): Promise<void> {
    await this.#server.shutdown();
  }
}

const ok = () => Response.json({ id: crypto.randomUUID() });
