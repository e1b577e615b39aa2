/** Search by words, by regular expression, or by meaning. The address stores the query. */
import { useEffect, useState } from "preact/hooks";
import { isCode, reasonFor } from "../../api/failure.ts";
import { search, type SearchResults } from "../../api/files.ts";
import { formatBytes, formatCount, formatNumber, visible } from "../../format.ts";
import { SEARCH_RESULTS_PER_PAGE } from "../../limits.ts";
import { SelectField, TextField } from "../../components/form.tsx";
import { fileIcon } from "../../components/file_icon.ts";
import { moveInList, RowLink } from "../../components/list.tsx";
import { Pager } from "../../components/pager.tsx";
import { Empty, Pending } from "../../components/states.tsx";
import { useLoad } from "../../state/use_load.ts";
import { marker } from "./marks.ts";
import { queryProblem } from "./query_problem.ts";
import { goTo, hrefOf, type SearchMode, type SearchPlace } from "../../state/router.ts";

const MODES: readonly (readonly [SearchMode, string])[] = [
  ["text", "Text"],
  ["regex", "Regular expression"],
  ["semantic", "Meaning"],
  ["hybrid", "Text and meaning"],
];

export function SearchView({ place }: { readonly place: SearchPlace }) {
  const { projectId, q, mode = "text", directory, glob, caseSensitive = false, first = 0 } = place;
  const { data, error, reload } = useLoad(
    `search ${JSON.stringify(place)}`,
    async (signal) => {
      if (q === "") return null;
      return await search(projectId, { q, mode, directory, glob, caseSensitive, offset: first }, signal);
    },
  );
  return (
    <section class="view" aria-labelledby="search-title">
      <div class="view-head">
        <h1 id="search-title">{q === "" ? "Search" : `Results for “${q}”`}</h1>
      </div>
      <Options place={place} error={error} />
      <Outcome {...{ place, data, error, reload }} />
      {data && (
        <Pager
          label="Pages of results"
          first={first}
          count={data.results.length}
          perPage={SEARCH_RESULTS_PER_PAGE}
          hasNext={data.hasMore}
          onShow={(next) => goTo({ ...place, first: next })}
        />
      )}
    </section>
  );
}

function Options({ place, error }: { readonly place: SearchPlace; readonly error: unknown }) {
  const { mode = "text", caseSensitive = false } = place;
  const [directory, setDirectory] = useState(place.directory ?? "");
  const [glob, setGlob] = useState(place.glob ?? "");
  useEffect(() => setDirectory(place.directory ?? ""), [place.directory]);
  useEffect(() => setGlob(place.glob ?? ""), [place.glob]);
  const ask = (changed: Partial<SearchPlace>) =>
    goTo({ ...place, directory, glob, first: undefined, ...changed });
  const isLiteral = mode === "text" || mode === "regex";
  return (
    <form
      class="search-options"
      onSubmit={(event) => {
        event.preventDefault();
        ask({});
      }}
    >
      <SelectField
        label="Search by"
        value={mode}
        onChange={(value) => ask({ mode: MODES.find(([one]) => one === value)?.[0] })}
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
      {isLiteral && (
        <label class="check">
          <input
            type="checkbox"
            checked={caseSensitive}
            onChange={({ currentTarget }) => ask({ caseSensitive: currentTarget.checked })}
          />
          Match case
        </label>
      )}
    </form>
  );
}

interface OutcomeProperties {
  readonly place: SearchPlace;
  readonly data: SearchResults | null | undefined;
  readonly error: unknown;
  readonly reload: () => void;
}

function Outcome({ place, data, error, reload }: OutcomeProperties) {
  if (isCode(error, "ROUTE_NOT_FOUND")) {
    return (
      <Empty icon="search" title="This service does not support search.">
        <p>Filter by name in a folder instead.</p>
      </Empty>
    );
  }
  const problem = queryProblem(error);
  if (problem !== undefined) {
    return (
      <Empty icon="search" title={problem}>
        {place.mode === "regex" && (
          <Offers offers={[{ text: "Search as text", mode: undefined }]} {...{ place }} />
        )}
      </Empty>
    );
  }
  if (isCode(error, "SEMANTIC_SEARCH_UNAVAILABLE")) {
    return (
      <Empty icon="search" title="This service does not search by meaning.">
        <Offers offers={[{ text: "Search as text", mode: undefined }]} place={place} />
      </Empty>
    );
  }
  if (data === undefined) return <Pending {...{ error, reload }} what="results" />;
  if (data === null) {
    return (
      <Empty icon="search" title="What are you looking for?">
        <p>Type it into the field at the top.</p>
      </Empty>
    );
  }
  const { results, notSearched } = data;
  return (
    <>
      {notSearched && <NotSearched {...{ notSearched, reload }} />}
      {results.length === 0 ? <Nothing place={place} /> : (
        <>
          <p class="hint" role="status">{countText(place, data)}</p>
          <Results place={place} results={results} />
        </>
      )}
    </>
  );
}

/** `3 files, 12 lines`, or, on one of several pages, `Files 21 to 40`. */
function countText({ mode = "text", first = 0 }: SearchPlace, { results, hasMore }: SearchResults): string {
  if (hasMore || first > 0) {
    const last = first + results.length;
    return `Files ${formatNumber(first + 1)} to ${formatNumber(last)}${
      hasMore ? " of more" : ` of ${formatNumber(last)}`
    }`;
  }
  const files = formatCount(results.length, "file");
  if (mode !== "text" && mode !== "regex") return files;
  // By text and expression, the score is the number of lines.
  const lines = results.reduce((sum, { score }) => sum + score, 0);
  return lines === 0 ? files : `${files}, ${formatCount(lines, "line")}`;
}

/** A wider search that the page offers. */
type Offer = Partial<Omit<SearchPlace, "name" | "projectId">> & { readonly text: string };

/** The wider searches where nothing was found, the nearest first. */
function Nothing({ place }: { readonly place: SearchPlace }) {
  const { q, mode = "text", caseSensitive, directory, glob } = place;
  const offers: readonly Offer[] = [
    ...caseSensitive && (mode === "text" || mode === "regex")
      ? [{ text: "Ignore upper and lower case", caseSensitive: undefined }]
      : [],
    ...directory || glob ? [{ text: "Search the whole project", directory: undefined, glob: undefined }] : [],
    ...mode === "text" ? [{ text: "Search by text and meaning", mode: "hybrid" as const }] : [],
    ...mode === "regex" || mode === "hybrid" ? [{ text: "Search as text", mode: undefined }] : [],
    ...mode === "semantic" ? [{ text: "Search by text and meaning", mode: "hybrid" as const }] : [],
  ];
  return (
    <Empty icon="search" title={`Nothing matches “${q}”.`}>
      <Offers offers={offers} place={place} />
    </Empty>
  );
}

function Offers({ offers, place }: { readonly offers: readonly Offer[]; readonly place: SearchPlace }) {
  return (
    <div class="tools">
      {offers.map(({ text, ...change }) => (
        <a key={text} class="button" href={hrefOf({ ...place, first: undefined, ...change })}>{text}</a>
      ))}
    </div>
  );
}

interface NotSearchedProperties {
  readonly notSearched: NonNullable<SearchResults["notSearched"]>;
  readonly reload: () => void;
}

/** Tells that some text was not searched; without it, an empty result is complete. */
function NotSearched({ notSearched: { files, bytes, paths, reasons }, reload }: NotSearchedProperties) {
  const why = reasons.map((reason) => UNSEARCHED_REASONS[reason] ?? reason).join("; ");
  return (
    <div class="note" role="status">
      <span>
        {formatCount(files, "file")} ({formatBytes(bytes)}) {files === 1 ? "was" : "were"} not searched:{" "}
        {why}.
      </span>
      {reasons.some((reason) => PASSING_REASONS.includes(reason)) && (
        <button type="button" onClick={reload}>Search again</button>
      )}
      {paths.length > 0 && (
        <details>
          <summary>{paths.length < files ? "Show some of them" : "Show them"}</summary>
          <ul class="paths">{paths.map((path) => <li key={path}>{visible(path)}</li>)}</ul>
        </details>
      )}
    </div>
  );
}

/** Why text was not searched, by the API's name for the reason. */
const UNSEARCHED_REASONS: Readonly<Record<string, string>> = {
  too_large: "too large",
  bounds: "more than one search reads; choose a folder",
  pending: "just written",
  not_indexable: "cannot be indexed",
  too_many_words: "too many different words",
  busy: "another search is reading",
  unreadable: "could not be read",
};

/** With these reasons, the same search may find more a moment later. */
const PASSING_REASONS: readonly string[] = ["pending", "busy", "unreadable"];

/** Why a file's content is not searchable, by the API's name for the reason. */
const NOT_SEARCHED: Readonly<Record<string, string>> = {
  too_large: "large files are not searched",
  not_text: "files that are not text are not searched",
  not_indexable: "its content could not be indexed",
};

interface ResultsProperties {
  readonly place: SearchPlace;
  readonly results: SearchResults["results"];
}

function Results(
  { place: { projectId, q, mode = "text", caseSensitive = false }, results }: ResultsProperties,
) {
  const parts = marker({ q, mode, caseSensitive });
  const placeAt = (path: string, line: number | undefined) =>
    ({ name: "file", projectId, path, tab: "content", line }) as const;
  return (
    <ol class="results" onKeyDown={moveInList}>
      {results.map(({ path, mimeType, matches, skipped }) => (
        <li key={path}>
          <RowLink
            to={placeAt(path, matches[0]?.line)}
            icon={fileIcon({ path, mimeType })}
            text={path}
          />
          {skipped && (
            <p class="hint">
              Found by its name: {NOT_SEARCHED[skipped] ?? "its content is not searched"}.
            </p>
          )}
          {matches.map(({ line, snippet }) => (
            <a key={line} class="snippet" href={hrefOf(placeAt(path, line))}>
              <span class="line-number">
                <span class="visually-hidden">Line&nbsp;</span>
                {line}
              </span>
              <code>
                {parts(snippet).map(({ text, isHit }, index) =>
                  isHit ? <mark key={index}>{text}</mark> : text
                )}
              </code>
            </a>
          ))}
        </li>
      ))}
    </ol>
  );
}
