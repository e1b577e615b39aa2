import { z } from "zod";
import { issueLink } from "../../files/links.ts";
import { fail } from "../../errors.ts";
import {
  LINK_SECONDS_DEFAULT,
  LINK_SECONDS_MAX,
  LINK_SECONDS_MIN,
  WRITE_LINK_SECONDS_MAX,
} from "../../limits.ts";
import { escapeHidden } from "../../runtime/hidden_characters.ts";
import { path, whole } from "../arguments.ts";
import { shortTime, shownPath } from "../text.ts";
import { defineTool } from "../tool.ts";

export const createLink = defineTool({
  name: "create_link",
  title: "Create a link",
  description:
    "Creates a link that downloads one file, or uploads one file once, without a key, and shows the curl command " +
    "for it. Use it for binary and large files: their bytes need not pass through you. Anyone who has the link can use " +
    "it.",
  scopes: ["write"],
  effect: "adds",
  input: z.object({
    path: path(),
    for: z.enum(["download", "upload"], "must be download or upload")
      .meta({ description: "Whether the link downloads or uploads the file." }).default("download"),
    expires_in: whole(
      `Seconds for which the link works; at most ${WRITE_LINK_SECONDS_MAX} for an upload.`,
      LINK_SECONDS_MIN,
      LINK_SECONDS_MAX,
    ).default(LINK_SECONDS_DEFAULT),
  }),
  async run(context, { path, for: purpose, expires_in: expiresIn }) {
    const isUpload = purpose === "upload";
    if (isUpload && expiresIn > WRITE_LINK_SECONDS_MAX) {
      fail("VALIDATION_ERROR", `expires_in must be at most ${WRITE_LINK_SECONDS_MAX} for an upload`);
    }
    if (!isUpload) await context.gate.require(["read", "write"]);
    const link = await issueLink(context, { path, for: isUpload ? "write" : "read", expiresIn });
    const what = isUpload
      ? `Uploads one new version of ${shownPath(path)}, once`
      : `Downloads ${shownPath(path)}`;
    return `${what}, until ${shortTime(link.expiresAt)}. Run:\n${escapeHidden(link.curl)}`;
  },
});
