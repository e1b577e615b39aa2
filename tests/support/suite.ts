/** One service for all tests of a file, stopped when the last one has ended. */
import { Files } from "./files.ts";
import { type Limits, type Service, startService, type TestProject, type Tier } from "./service.ts";

export interface Suite {
  readonly service: Service;
  /** The files of a new project of its own, so that no test sees another's. Default tier: enterprise, no limits. */
  files(tier?: Tier, limits?: Limits): Promise<Files & { readonly project: TestProject }>;
}

export async function suite(): Promise<Suite> {
  const service = await startService();
  Deno.test.afterAll(() => service.stop());
  return {
    service,
    async files(tier = "enterprise", limits = {}) {
      const project = await service.project(tier, limits);
      return Object.assign(new Files(service, project.key), { project });
    },
  };
}

/** A test against a running service: what the service's own parts keep open is not the test's. */
export function test(name: string, body: (context: Deno.TestContext) => Promise<void> | void): void {
  Deno.test({
    name,
    sanitizeOps: false,
    sanitizeResources: false,
    async fn(context) {
      try {
        await body(context);
      } finally {
        // PGlite leaves a code of its own there.
        Deno.exitCode = 0;
      }
    },
  });
}
