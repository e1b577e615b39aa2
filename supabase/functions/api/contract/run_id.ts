/** The form of the run ids that clients choose. */
import { RUN_ID_LENGTH_MAX } from "./limits.ts";

export const RUN_ID_SHAPE = new RegExp(`^[A-Za-z0-9._:-]{1,${RUN_ID_LENGTH_MAX}}$`);
export const RUN_ID_RULE =
  `must be 1 to ${RUN_ID_LENGTH_MAX} of the characters A-Z, a-z, 0-9, ".", "_", ":" and "-"`;
