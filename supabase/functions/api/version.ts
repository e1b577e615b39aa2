/** The version of the release, which all its parts show: `tests/http/version.test.ts` lists them. */
export const VERSION = "1.1.0";
