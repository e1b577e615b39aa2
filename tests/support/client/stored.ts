/** How a project's files are stored, which no answer shows. */
import type { Service } from "../stack/service.ts";

/** The number of segments of the latest version of the project's only file. */
export async function segmentCount(service: Service, projectId: string): Promise<number> {
  const [row] = await service.sql<{ segments: number }>(
    "select cardinality(segment_ids) as segments from filestore.files where project_id = $1",
    [projectId],
  );
  if (!row) throw new Error("the project has no file");
  return row.segments;
}

/** The number of the project's objects that no row of segments names. */
export async function unreferencedObjects(service: Service, projectId: string): Promise<number> {
  const [row] = await service.sql<{ unreferenced: number }>(
    `select count(*)::integer as unreferenced from storage.objects o where o.name like $1 || '/%'
     and not exists (select from filestore.segments s where o.name like '%/' || s.id)`,
    [projectId],
  );
  if (!row) throw new Error("nothing was counted");
  return row.unreferenced;
}
