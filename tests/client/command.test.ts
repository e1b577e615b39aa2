/**
 * The command `filestore` on Deno, from its sources. `client_slow/node.test.ts` runs the same on Node, from the package,
 * and the examples of the help.
 */
import { commandCases } from "../support/kit/command_cases.ts";
import { FROM_SOURCES } from "../support/kit/command_line.ts";
import { suite } from "../support/stack/suite.ts";

commandCases("filestore", FROM_SOURCES, await suite());
