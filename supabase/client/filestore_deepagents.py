"""The files of a Filestore project as those of an agent of the Python package deepagents, 0.7 and newer.

    from deepagents import create_deep_agent
    from filestore import Filestore
    from filestore_deepagents import FilestoreBackend

    store = Filestore(url, key, actor="researcher")
    agent = create_deep_agent(model=model, backend=FilestoreBackend(store, "research"))
"""

import re

from deepagents.backends.protocol import (
    BackendProtocol,
    DeleteResult,
    EditResult,
    FileDownloadResponse,
    FileUploadResponse,
    GlobResult,
    GrepResult,
    LsResult,
    ReadResult,
    WriteResult,
)
from filestore import FilestoreError

__all__ = ["FilestoreBackend"]

# Files of a page of a search.
SEARCH_PAGE = 100
FILE_ERRORS = {
    "FILE_NOT_FOUND": "file_not_found",
    "BRANCH_NOT_FOUND": "file_not_found",
    "FORBIDDEN_SCOPE": "permission_denied",
    "INVALID_API_KEY": "permission_denied",
    "INVALID_PATH": "invalid_path",
    "PATH_TOO_LONG": "invalid_path",
}


class FilestoreBackend(BackendProtocol):
    """The agent's `/` is the project, or one of its folders. A failure is returned as `error`, in words for the agent."""

    def __init__(self, store, directory=""):
        self._store = store
        self._directory = directory.strip("/")

    def ls(self, path):
        """The files and folders of a folder; a folder that is not there has none."""
        try:
            return LsResult(entries=sorted(self._entries(self._at(path)), key=lambda entry: entry["path"]))
        except FilestoreError as error:
            return LsResult(error=str(error))

    def read(self, file_path, offset=0, limit=2000):
        """Lines of a text, `offset` from 0; or all bytes of another file, as base64."""
        first = max(0, offset) + 1
        try:
            record = self._lines(self._at(file_path), first, first + max(1, limit) - 1)
        except FilestoreError as error:
            return ReadResult(error=str(error))
        is_bytes = record.get("isBase64", False)
        data = {"content": record["content"], "encoding": "base64" if is_bytes else "utf-8"}
        data.update(created_at=record["createdAt"], modified_at=record["updatedAt"])
        if is_bytes or record["content"] == "":
            return ReadResult(file_data=data)
        if limit <= 0:
            return ReadResult(file_data={**data, "content": ""}, no_lines_requested=True)
        end, total = record["endLine"], record["totalLines"]
        more = end if end < total else None
        return ReadResult(file_data=data, start_line=first, end_line=end, total_lines=total, next_offset=more)

    def write(self, file_path, content):
        """Creates the file, or adds a version."""
        try:
            self._store.write(self._at(file_path), content)
            return WriteResult(path=file_path)
        except FilestoreError as error:
            return WriteResult(error=str(error))

    def edit(self, file_path, old_string, new_string, replace_all=False):
        """Replaces a string: the only one, or with `replace_all` each."""
        try:
            edited = self._store.edit(self._at(file_path), old_string, new_string, replace_all=replace_all)
            return EditResult(path=file_path, occurrences=edited["replacements"])
        except FilestoreError as error:
            return EditResult(error=str(error))

    def delete(self, file_path):
        """Deletes a file, or a folder with all its files. Their versions stay readable."""
        try:
            place = self._at(file_path)
            try:
                self._store.delete(place)
            except FilestoreError as error:
                if error.code != "FILE_NOT_FOUND":
                    raise
                self._store.delete(place, recursive=True)
            return DeleteResult(path=file_path)
        except FilestoreError as error:
            return DeleteResult(error=str(error))

    def grep(self, pattern, path=None, glob=None, *, max_count=None):
        """Lines that contain a text, in the files below a folder. `truncated`: there may be more."""
        matches, is_cut, offset = [], False, 0
        most = float("inf") if max_count is None else max_count
        query = {"mode": "text", "directory": self._at(path or "/") or "/", "glob": glob, "case_sensitive": True}
        try:
            while len(matches) <= most:
                page = self._store.search(pattern, limit=SEARCH_PAGE, offset=offset, **query)
                for result in page["results"]:
                    matches += [self._match(result, match) for match in result["matches"]]
                    is_cut = is_cut or result["score"] > len(result["matches"])
                offset += len(page["results"])
                is_cut = is_cut or "notSearched" in page or page["hasMore"] and not page["results"]
                if not page["hasMore"] or not page["results"]:
                    break
        except FilestoreError as error:
            return GrepResult(error=str(error))
        found = matches if max_count is None else matches[:max_count]
        return GrepResult(matches=found, truncated=bool(is_cut or len(found) < len(matches)))

    def glob(self, pattern, path=None):
        """Files below a folder whose path in it matches; a pattern without a slash matches names at any depth."""
        place = self._at(path or "/")
        try:
            matching = re.compile(_expression(pattern))
            files = [self._file(record) for record in self._store.list(place, recursive=True)]
        except (FilestoreError, re.error) as error:
            return GlobResult(error=str(error))
        start = len(self._shown(place).rstrip("/")) + 1
        return GlobResult(matches=[file for file in files if matching.fullmatch(file["path"][start:])])

    def upload_files(self, files):
        """Writes bytes, one file after the other."""
        answers = ((path, self._try(lambda: self._store.write(self._at(path), content))) for path, content in files)
        return [FileUploadResponse(path, error) for path, (_, error) in answers]

    def download_files(self, paths):
        """Reads bytes, one file after the other."""
        answers = ((path, self._try(lambda: self._store.read_bytes(self._at(path)))) for path in paths)
        return [FileDownloadResponse(path, content, error) for path, (content, error) in answers]

    def _entries(self, place):
        folders = set()
        for page in self._store.list_pages(place):
            yield from (self._file(record) for record in page["files"])
            folders.update(page.get("directories", []))
        for name in folders:
            path = self._shown(f"{place}/{name}" if place else name) + "/"
            yield {"path": path, "is_dir": True, "size": 0, "modified_at": ""}

    def _lines(self, place, first, last):
        """Some lines of a text; all of another file, and of a text without a first line."""
        try:
            return self._store.read(place, lines=f"{first}-{last}")
        except FilestoreError as error:
            if error.code != "NOT_TEXT" and not (error.code == "RANGE_NOT_SATISFIABLE" and first == 1):
                raise
            return self._store.read(place)

    def _try(self, work):
        """The result and no error, or none and the package's word for the failure, else the service's."""
        try:
            return work(), None
        except FilestoreError as error:
            return None, FILE_ERRORS.get(error.code, str(error))

    def _at(self, path):
        """The path in the project."""
        return "/".join(part for part in (self._directory, path.strip("/")) if part)

    def _shown(self, path):
        """The path that the agent knows."""
        return "/" + path[len(self._directory) + 1 if self._directory else 0 :]

    def _file(self, record):
        return {
            "path": self._shown(record["path"]),
            "is_dir": False,
            "size": record["size"],
            "modified_at": record["updatedAt"],
        }

    def _match(self, result, match):
        return {"path": self._shown(result["path"]), "line": match["line"], "text": match["snippet"]}


# What a glob is made of, each with what it stands for at the beginning of a name, where it matches no dot, and within one.
TOKENS = {
    "**/": (r"(?:(?!\.)[^/]+/)*", r"(?:(?!\.)[^/]+/)*"),
    "**": (r"(?:(?!\.)[^/]+/)*(?!\.)[^/]+", r"[^/]*"),
    "*": (r"(?!\.)[^/]*", r"[^/]*"),
    "?": (r"(?!\.)[^/]", r"[^/]"),
}


def _expression(glob):
    """The regular expression of a glob: `*`, `**`, `?`, `[abc]`, `[!abc]` and `{a,b}`; `/` at its beginning anchors it."""
    parts = ["" if "/" in glob else "(?:.*/)?"]
    depth, is_first = 0, True
    for token in re.findall(r"\*\*/|\*\*|\[!?\]?[^\]/]*\]|.", glob.lstrip("/"), re.DOTALL):
        if token in TOKENS:
            parts.append(TOKENS[token][0 if is_first else 1])
        elif token == "{":
            parts.append("(?:")
            depth += 1
        elif token in (",", "}") and depth > 0:
            parts.append("|" if token == "," else ")")
            depth -= token == "}"
        elif len(token) > 1:
            inner = token[1:-1].replace("\\", "\\\\")
            parts.append(f"[^/{inner[1:]}]" if inner.startswith("!") else f"[{inner}]")
        else:
            parts.append(re.escape(token))
        is_first = token.endswith("/") or is_first and token in ("{", ",")
    return "".join(parts)
