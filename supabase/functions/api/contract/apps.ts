/** The requests of apps that a signed-in person answers. */
import { z } from "zod";
import { time, type Wire } from "./values.ts";

export const appScope = z.enum(["read", "write"]);
export type AppScope = z.infer<typeof appScope>;

export const appClient = z.object({
  name: z.string().meta({ description: "What the app calls itself. Nobody has verified it." }),
  host: z.string().meta({
    description: "The host that gets the code; empty: an app on the person's device.",
  }),
});

export const appRequest = z.object({
  client: appClient.extend({ id: z.string() }),
  scopes: z.array(appScope),
  resource: z.string(),
  expiresAt: time,
}).meta({ id: "AppRequest" });
export type AppRequest = Wire<typeof appRequest>;

export const appRedirect = z.object({
  redirectTo: z.string().meta({ description: "The app's address, with the code or the refusal." }),
}).meta({ id: "AppRedirect" });
