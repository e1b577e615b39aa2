/** The index of decisions by topic, from their titles and their lines `Topic: …`. */

const FOLDER = new URL("../decisions/", import.meta.url);

/** The topics in the order of the index → their headings. Each decision names one of them. */
export const TOPICS = {
  access: "Who may do what",
  commits: "Commits and erasure",
  reads: "Reads",
  limits: "Limits",
  search: "Search",
  agents: "Agents and exports",
  building: "How it is built",
} as const;

export function decisionsIndex(): string {
  const decisions = [...Deno.readDirSync(FOLDER)].map(({ name }) => name).filter((name) =>
    /^\d{4}-/.test(name)
  )
    .sort().map((file) => {
      const text = Deno.readTextFileSync(new URL(file, FOLDER));
      return {
        file,
        title: /^# (.+)$/m.exec(text)?.[1] ?? "",
        topic: /^Topic: (.+)$/m.exec(text)?.[1] ?? "",
      };
    });
  return Object.entries(TOPICS).map(([topic, heading]) => {
    const links = decisions.filter((decision) => decision.topic === topic)
      .map(({ file, title }) => `- [${file.slice(0, 4)}](${file}) ${title}`);
    return `## ${heading}\n\n${links.join("\n")}`;
  }).join("\n\n");
}
