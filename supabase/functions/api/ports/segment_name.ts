/** Names of objects in the bucket: `{projectId}/{yyyymmdd}/{segmentId}`, the day in UTC. */

/** The folder of one UTC day, below that of a project. */
export function segmentFolderName(day: Date): string {
  return day.toISOString().slice(0, 10).replaceAll("-", "");
}

/** The folder of a project's segments of one UTC day. */
export function segmentFolder(projectId: string, day: Date): string {
  return `${projectId}/${segmentFolderName(day)}`;
}

/** The object name of a segment that is created at `now`. */
export function segmentName(projectId: string, now: Date, id: string): string {
  return `${segmentFolder(projectId, now)}/${id}`;
}

/** `yyyymmdd`, the last part of a segment folder, as `yyyy-mm-dd`; undefined for any other text. */
export function dayOfFolder(name: string): string | undefined {
  return /^\d{8}$/.test(name) ? `${name.slice(0, 4)}-${name.slice(4, 6)}-${name.slice(6)}` : undefined;
}
