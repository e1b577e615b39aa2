/** @jsxImportSource preact */
/// <reference lib="dom" />
/** Search by words, by regular expression, or by meaning. */
import { useState } from "preact/hooks";
import { isCode, reasonFor } from "../api/failure.ts";
import { search } from "../api/files.ts";
import type { SearchResults } from "../api/records.ts";
import { SEARCH_RESULTS_PER_PAGE } from "../limits.ts";
import { SelectField, TextField } from "../components/field.tsx";
import { Icon } from "../components/icon.tsx";
import { Empty, Loading, Problem } from "../components/states.tsx";
import { useLoad } from "../state/use_load.ts";
import { hrefOf } from "../state/router.ts";

const MODES = [
  ["text", "Text"],
  ["regex", "Regular expression"],
  ["semantic", "Meaning"],
  ["hybrid", "Text and meaning"],
] as const;

interface Properties {
  readonly projectId: string;
  readonly q: string;
}

interface SearchOptions {
  readonly mode: string;
  readonly directory: string;
  readonly glob: string;
}

export function SearchView({ projectId, q }: Properties) {
  const [asked, setAsked] = useState<SearchOptions>({ mode: "text", directory: "", glob: "" });
  const [offset, setOffset] = useState(0);
  const { data, error, reload } = useLoad(
    `search ${projectId} ${q} ${offset} ${JSON.stringify(asked)}`,
    async (signal) => {
      if (q === "") return null;
      const where = { directory: asked.directory || undefined, glob: asked.glob || undefined };
      return await search(projectId, { q, mode: asked.mode, offset, ...where }, signal);
    },
  );
  const ask = (options: SearchOptions) => {
    setOffset(0);
    setAsked(options);
  };
  const move = (pages: number) => setOffset(Math.max(0, offset + pages * SEARCH_RESULTS_PER_PAGE));
  return (
    <section class="view" aria-labelledby="search-title">
      <div class="view-head">
        <h1 id="search-title">{q === "" ? "Search" : `Results for “${q}”`}</h1>
      </div>
      <Options asked={asked} onAsk={ask} error={error} />
      <Outcome {...{ projectId, q, data, error, reload }} />
      {data && (offset > 0 || data.hasMore) && (
        <nav class="pager" aria-label="Pages of results">
          <button type="button" disabled={offset === 0} onClick={() => move(-1)}>Previous</button>
          <button type="button" disabled={!data.hasMore} onClick={() => move(1)}>Next</button>
        </nav>
      )}
    </section>
  );
}

interface OptionsProperties {
  readonly asked: SearchOptions;
  readonly onAsk: (options: SearchOptions) => void;
  readonly error: unknown;
}

function Options({ asked, onAsk, error }: OptionsProperties) {
  const [directory, setDirectory] = useState("");
  const [glob, setGlob] = useState("");
  const narrow = (event: Event) => {
    event.preventDefault();
    onAsk({ ...asked, directory, glob });
  };
  return (
    <form class="search-options" onSubmit={narrow}>
      <SelectField
        label="Search by"
        value={asked.mode}
        onChange={(mode) => onAsk({ mode, directory, glob })}
        options={MODES}
      />
      <TextField
        label="Folder"
        value={directory}
        onInput={setDirectory}
        problem={reasonFor(error, "directory", "INVALID_PATH")}
      />
      <TextField
        label="File names"
        value={glob}
        onInput={setGlob}
        problem={reasonFor(error, "glob")}
        input={{ placeholder: "*.md" }}
      />
      <button type="submit">Apply</button>
    </form>
  );
}

interface OutcomeProperties extends Properties {
  readonly data: SearchResults | null | undefined;
  readonly error: unknown;
  readonly reload: () => void;
}

function Outcome({ projectId, q, data, error, reload }: OutcomeProperties) {
  if (isCode(error, "ROUTE_NOT_FOUND")) {
    return (
      <Empty icon="search" title="This service does not support search.">
        <p>Filter by name in a folder instead.</p>
      </Empty>
    );
  }
  if (error !== undefined) return <Problem error={error} onRetry={reload} />;
  if (data === undefined) return <Loading what="results" />;
  if (data === null) {
    return (
      <Empty icon="search" title="What are you looking for?">
        <p>Type it into the field at the top.</p>
      </Empty>
    );
  }
  if (data.results.length === 0) return <Empty icon="search" title={`Nothing matches “${q}”.`} />;
  return (
    <ol class="results">
      {data.results.map(({ path, matches }) => (
        <li key={path}>
          <a class="row-link" href={hrefOf({ name: "file", projectId, path, tab: "content" })}>
            <Icon name="file" />
            {path}
          </a>
          {matches.map(({ line, snippet }, index) => (
            <p key={index} class="snippet">
              <span class="line-number">{line}</span>
              <code>{snippet}</code>
            </p>
          ))}
        </li>
      ))}
    </ol>
  );
}
