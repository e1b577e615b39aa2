/** A small labelled set: notes as agents write them, and questions with the notes that answer them. */

export const NOTES: Readonly<Record<string, string>> = {
  "ops/fleet.md": "# Fleet\nThe company automobile is serviced every spring. Keys hang beside the door.\n",
  "ops/parking.md": "# Parking\nSpaces 12 to 20 belong to us; visitors use the street.\n",
  "health/insurance.md":
    "# Insurance\nSee a physician within three days of an accident; the form is in the drawer.\n",
  "finance/invoices.md":
    "# Invoices\nCustomers are billed on the first; overdue invoices get a reminder after 14 days.\n",
  "finance/refunds.md":
    "# Refunds\nCash goes back to the same card within five days. ERR-4021 means the bank said no.\n",
  "eng/outage-2026-03.md":
    "# Outage of March\nThe database crashed at 02:14 because the disk was full. Fixed by adding space.\n",
  "eng/latency.md": "# Latency\nThe p99 of reads is 120 ms; rapid answers come from the cache.\n",
  "eng/retention.md": "# Retention\nLogs are purged after 30 days. Customer files are erased on request.\n",
  "eng/auth.md": "# Access\nCredentials rotate every 90 days. The signin page locks after 5 tries.\n",
  "eng/boot.md": "# Cold path\nAt launch the service reads its settings, then opens port 8443.\n",
  "eng/thumbnails.md": "# Previews\nEach photo gets three sizes, made by the worker `resize-queue`.\n",
  "eng/backup.md": "# Snapshots\nA snapshot is taken nightly and recovery is rehearsed monthly.\n",
  "eng/style.md":
    "# Style\nUse tabs for indentation; comments say why. Call the formatter before you commit.\n",
  "eng/ports.md": "# Ports\n8443 is the gateway, 9090 the metrics, 5432 Postgres.\n",
  "team/calendar.md": "# Rhythm\nAppointments are on Tuesdays; the weekly call is at ten.\n",
  "team/vacation.md": "# Time off\nVacation needs two weeks' notice. Travel costs are paid back.\n",
  "team/hiring.md": "# Recruiting\nEach candidate has two interviews and one exercise.\n",
  "team/kitchen.md": "# Kitchen\nLunch is at noon; whoever cooks writes the recipe down.\n",
  "team/shop.md": "# Ordering\nPurchases over 500 need two signatures.\n",
  "team/glossary.md":
    "# Glossary\nSLO: service level objective. RTO: recovery time objective. PTO: paid time off.\n",
};

export interface Labelled {
  readonly q: string;
  /** Paths of NOTES that answer it. */
  readonly relevant: readonly string[];
}

/** Some name a word of the note, some only what it means, some a code that has no meaning. */
export const QUESTIONS: readonly Labelled[] = [
  { q: "car maintenance", relevant: ["ops/fleet.md"] },
  { q: "ERR-4021", relevant: ["finance/refunds.md"] },
  { q: "where do visitors leave their vehicle", relevant: ["ops/parking.md", "ops/fleet.md"] },
  { q: "doctor after an accident", relevant: ["health/insurance.md"] },
  { q: "when do we charge customers", relevant: ["finance/invoices.md"] },
  { q: "overdue reminder", relevant: ["finance/invoices.md"] },
  { q: "money back to the card", relevant: ["finance/refunds.md"] },
  { q: "database failure disk full", relevant: ["eng/outage-2026-03.md"] },
  { q: "p99", relevant: ["eng/latency.md"] },
  { q: "how fast are answers", relevant: ["eng/latency.md"] },
  { q: "when are logs removed", relevant: ["eng/retention.md"] },
  { q: "password rotation", relevant: ["eng/auth.md"] },
  { q: "8443", relevant: ["eng/ports.md", "eng/boot.md"] },
  { q: "what happens at startup", relevant: ["eng/boot.md"] },
  { q: "resize-queue", relevant: ["eng/thumbnails.md"] },
  { q: "image sizes", relevant: ["eng/thumbnails.md"] },
  { q: "nightly backup", relevant: ["eng/backup.md"] },
  { q: "tabs or spaces for indentation", relevant: ["eng/style.md"] },
  { q: "weekly meeting", relevant: ["team/calendar.md"] },
  { q: "holiday notice", relevant: ["team/vacation.md"] },
  { q: "interviews for a new hire", relevant: ["team/hiring.md"] },
  { q: "RTO", relevant: ["team/glossary.md"] },
  { q: "who cooks the meal", relevant: ["team/kitchen.md"] },
  { q: "buy something over 500", relevant: ["team/shop.md"] },
  { q: "signatures", relevant: ["team/shop.md"] },
];
