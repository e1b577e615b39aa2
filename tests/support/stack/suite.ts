/**
 * The service for the tests of a file. Test files loaded into one process (see `together.ts`) share one, which stops
 * after the last test; each test creates its own projects.
 */
import { type Cases, takeOpened, type Target, useTarget } from "../../acceptance/suite.ts";
import type { StackOptions } from "../../../supabase/local/stack/stack.ts";
import { ProjectFiles } from "../client/files.ts";
import { type Limits, type Service, startService, type Tier } from "./service.ts";

export interface Suite {
  readonly service: Service;
  /** The files of a new project, so that no test sees another's. Default tier: enterprise, no limits. */
  files(tier?: Tier, limits?: Limits): Promise<ProjectFiles>;
  /** A test, which gets the files of a new project. */
  test(name: string, body: (own: ProjectFiles) => Promise<void> | void): void;
}

let shared: Promise<Service> | undefined;

/** The service that all files of this process share. */
export async function sharedService(): Promise<Service> {
  shared ??= startAndStop({});
  return (await shared).forAnotherFile();
}

export async function suite(): Promise<Suite> {
  return suiteOf(await sharedService());
}

/** A suite with a stack of its own, for tests that need other options. */
export async function privateSuite(options: Partial<StackOptions>): Promise<Suite> {
  return suiteOf(await startAndStop(options));
}

let target: Promise<Target> | undefined;

/**
 * Runs cases of the acceptance suite against the shared service. As on any other service, each uses a folder of one
 * project.
 */
export async function acceptance({ cases }: Cases): Promise<void> {
  useTarget(await (target ??= acceptanceTarget()));
  for (const { name, run } of cases) {
    test(name, async () => {
      try {
        await run();
      } finally {
        takeOpened();
      }
    });
  }
}

async function acceptanceTarget(): Promise<Target> {
  const service = await sharedService();
  const [own, stranger] = [await service.project(), await service.project()];
  return {
    api: service,
    key: own.key,
    strangerKey: stranger.key,
    passesHead: true,
    folder: `acceptance-${crypto.randomUUID().slice(0, 8)}`,
    // Stronger than a check from outside can be.
    snapshot: () => service.tables(),
  };
}

async function startAndStop(options: Partial<StackOptions>): Promise<Service> {
  const service = await startService(options);
  Deno.test.afterAll(() => service.stop());
  return service;
}

function suiteOf(service: Service): Suite {
  const files: Suite["files"] = async (tier = "enterprise", limits = {}) =>
    new ProjectFiles(service, await service.project(tier, limits));
  return { service, files, test: (name, body) => test(name, async () => body(await files())) };
}

/**
 * A test against a running service, without Deno's checks for leaks, since the service keeps resources open. A failure
 * lists the back-end calls that failed during the test.
 */
export function test(name: string, body: (context: Deno.TestContext) => Promise<void> | void): void {
  Deno.test({
    name,
    sanitizeOps: false,
    sanitizeResources: false,
    async fn(context) {
      const log = shared === undefined ? [] : (await shared).log;
      const start = log.length;
      try {
        await body(context);
      } catch (error) {
        const faults = log.slice(start).filter((line) => line.includes('_fault"'));
        if (error instanceof Error && faults.length > 0) error.message += `\n${faults.slice(-10).join("\n")}`;
        throw error;
      } finally {
        // PGlite leaves its own exit code.
        Deno.exitCode = 0;
      }
    },
  });
}
