/**
 * Sends the settings of a request to Postgres in one statement, as PostgREST does. @supabase/lite sends a dozen
 * statements of one setting each, and reads the result of none of them.
 */
import { CompiledQuery, type DatabaseConnection, type QueryResult } from "kysely";

/** A setting for the rest of the transaction, with its value as the only parameter or none. */
const SETTING = /^\s*select set_config\('([\w.]+)', (?:\$1|''), true\)\s*$/i;
const END = /^(?:commit|rollback)$/;

/** Delays settings until a statement follows that may depend on them. */
export class JoinedSettings<Session extends DatabaseConnection> implements DatabaseConnection {
  #settings: { readonly name: string; readonly value: unknown }[] = [];

  constructor(readonly session: Session) {}

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const name = SETTING.exec(query.sql)?.[1];
    if (name !== undefined) {
      this.#settings.push({ name, value: query.parameters[0] ?? "" });
      return { rows: [] };
    }
    const settings = this.#settings;
    this.#settings = [];
    if (settings.length > 0 && !END.test(query.sql)) await this.session.executeQuery(joined(settings));
    return await this.session.executeQuery<R>(query);
  }

  streamQuery<R>(query: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<R>> {
    return this.session.streamQuery(query, chunkSize);
  }
}

function joined(settings: readonly { readonly name: string; readonly value: unknown }[]): CompiledQuery {
  const calls = settings.map(({ name }, index) => `set_config('${name}', $${index + 1}, true)`);
  return CompiledQuery.raw(`select ${calls.join(", ")}`, settings.map(({ value }) => value));
}
