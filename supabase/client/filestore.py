"""The files of a Filestore project, for Python 3.9 and newer, with its standard library alone.

    from filestore import Filestore

    store = Filestore(url="https://REF.supabase.co/functions/v1/api", key="oa_...", run="night-1")
    store.write("notes/plan.md", "# Plan\\n", if_version=0)
    store.edit("notes/plan.md", "Plan", "The plan")
    for file in store.list("notes", recursive=True):
        print(file["path"], file["version"])

Methods return the API's data as dictionaries; options are the API's fields in snake_case. The client waits as the
service says after 429 and 503, and repeats a request whose answer was lost: a write under one idempotency key. Every
failure is a FilestoreError.
"""

import http.client
import json
import re
import socket
import time
import unicodedata
import urllib.error
import urllib.parse
import urllib.request
import uuid

__all__ = ["Filestore", "FilestoreError"]
__version__ = "1.1.0"

TRIES_MAX = 8
PAUSE_FIRST_SECONDS = 0.25
PAUSE_MAX_SECONDS = 15
# Tries of a client that never reached the address, which is probably wrong.
TRIES_UNREACHED_MAX = 3
PAUSE_UNREACHED_SECONDS = 0.5
RETRY_AFTER_SECONDS_MAX = 120
IDLE_TIMEOUT_SECONDS = 60
PAGE = 100
FOLLOW_WAIT_SECONDS = 25
PATH_BYTES_MAX = 1024


class FilestoreError(Exception):
    """A refusal of the service, or a request without an answer.

    code: one of the service's codes, or NETWORK_ERROR (no answer, status 0), or UNKNOWN_ANSWER (another service).
    Arguments that cannot be sent have the codes INVALID_PATH and VALIDATION_ERROR, with status 0.
    """

    def __init__(self, code, message, status=0, details=None, request_id=None):
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.details = details or {}
        self.request_id = request_id


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect could lead the key to another host."""

    def redirect_request(self, *_):
        return None


class _Obstacle(Exception):
    """Why a request can be sent again."""

    def __init__(self, error, pause=None, is_unreached=False):
        super().__init__(str(error))
        self.error = error
        self.pause = pause
        self.is_unreached = is_unreached


class Api:
    """The service's API: waits as told, and repeats requests whose answers were lost."""

    def __init__(self, url, key, run=None, actor=None):
        if not re.match(r"https?://[^/\s]+", url) or re.search(r"\s", url):
            raise FilestoreError("VALIDATION_ERROR", f"The address must begin with http:// or https://, not {url}")
        self.base_url = url.rstrip("/")
        self.run = run
        self._key = key
        self._actor = actor
        self._is_reached = False
        self._opener = urllib.request.build_opener(_NoRedirects())

    def data(self, path, method="GET", query=None, headers=None, body=None, content=None):
        """The data of the answer. `body` is sent as JSON, `content` as bytes."""
        text, status = self.send(path, method, query, headers, body, content)
        answer = _parsed(text)
        if isinstance(answer, dict) and answer.get("success") is True and isinstance(answer.get("data"), dict):
            return answer["data"]
        raise self._unknown(status)

    def send(self, path, method="GET", query=None, headers=None, body=None, content=None):
        """Sends the request until it has a complete answer. Returns its bytes and status."""
        request = self._request(path, method, query, headers, body, content)
        pause = PAUSE_FIRST_SECONDS
        tries = 0
        while True:
            tries += 1
            try:
                return self._try(request)
            except _Obstacle as obstacle:
                # A rate window always ends, so waiting for it does not count as a failed try.
                is_limit = obstacle.error.code == "RATE_LIMIT_EXCEEDED"
                tries -= is_limit
                if tries >= (TRIES_UNREACHED_MAX if obstacle.is_unreached else TRIES_MAX):
                    raise obstacle.error from None
                if obstacle.is_unreached:
                    time.sleep(PAUSE_UNREACHED_SECONDS)
                    continue
                time.sleep(pause if obstacle.pause is None else obstacle.pause)
                if not is_limit:
                    pause = min(2 * pause, PAUSE_MAX_SECONDS)

    def _request(self, path, method, query, headers, body, content):
        given = {"x-api-key": self._key}
        if method != "GET":
            given.update({"x-run-id": self.run, "x-actor": self._actor})
        if body is not None:
            given["content-type"] = "application/json"
            content = _json(body)
        elif content is not None:
            # urllib would name a type of its own; an empty one leaves the type to the path.
            given["content-type"] = ""
        given.update(headers or {})
        sent = {name: value for name, value in given.items() if value is not None}
        for name, value in sent.items():
            if not all(" " <= letter <= "\u00ff" and letter != "\u007f" for letter in value):
                raise FilestoreError("VALIDATION_ERROR", f"{name}: has characters that a header cannot carry.")
        pairs = [(name, _text(value)) for name, value in (query or {}).items() if value is not None]
        url = self.base_url + path + ("?" + _encoded(pairs) if pairs else "")
        return {"url": url, "method": method, "headers": sent, "data": content}

    def _try(self, request):
        try:
            sent = urllib.request.Request(**request)
            with self._opener.open(sent, timeout=IDLE_TIMEOUT_SECONDS) as response:
                self._is_reached = True
                return response.read(), response.status
        except urllib.error.HTTPError as error:
            self._is_reached = True
            with error:
                try:
                    text = error.read()
                except (OSError, http.client.HTTPException) as lost:
                    raise _Obstacle(self._lost(lost)) from None
            raise self._refusal(error, text) from None
        except (OSError, http.client.HTTPException) as error:
            cause = error.reason if isinstance(error, urllib.error.URLError) else error
            is_unreached = not self._is_reached and isinstance(cause, (ConnectionRefusedError, socket.gaierror))
            raise _Obstacle(self._lost(cause), is_unreached=is_unreached) from None
        except ValueError as error:
            raise FilestoreError("VALIDATION_ERROR", str(error)) from None

    def _refusal(self, response, text):
        answer = _parsed(text)
        refused = answer.get("error") if isinstance(answer, dict) else None
        error = self._unknown(response.code)
        if isinstance(refused, dict) and isinstance(refused.get("code"), str):
            details = answer.get("details")
            error = FilestoreError(
                refused["code"],
                str(refused.get("message", "")),
                response.code,
                details if isinstance(details, dict) else {},
                response.headers.get("x-request-id"),
            )
        lasting = ("CONTENT_CORRUPT", "SEMANTIC_SEARCH_UNAVAILABLE")
        is_transient = response.code == 429 or error.code == "IDEMPOTENCY_KEY_IN_USE" or (
            response.code >= 500 and error.code not in lasting
        )
        if not is_transient:
            return error
        after = response.headers.get("retry-after", "")
        return _Obstacle(error, min(int(after), RETRY_AFTER_SECONDS_MAX) if after.isdigit() else None)

    def _unknown(self, status):
        message = f"{self.base_url} answered with status {status}, but not as this service does; check the address."
        return FilestoreError("UNKNOWN_ANSWER", message, status)

    def _lost(self, error):
        message = f"{self.base_url} gave no answer ({error}). Check the address and the network."
        return FilestoreError("NETWORK_ERROR", message)

    def write(self, path, method, options, **call):
        """A write: one idempotency key for all of its tries."""
        note = options.get("note")
        headers = dict(call.pop("headers", {}))
        headers["idempotency-key"] = options.get("idempotency_key") or str(uuid.uuid4())
        if note is not None:
            headers["x-change-note"] = _quoted(note)
        return self.data(path, method, headers=headers, **call)


class Filestore:
    """The files of a project."""

    def __init__(self, url, key, run=None, actor=None):
        self.api = Api(url, key, run, actor)
        self.runs = Runs(self.api)
        self.branches = Branches(self.api)
        self.links = Links(self.api)

    def read(self, path, **options):
        """The content and the record of a file. Options: version, at, lines, encoding."""
        return self.api.data(_address(path), query=_fields(options))

    def read_bytes(self, path, version=None, at=None):
        headers = {"accept": "application/octet-stream"}
        return self.api.send(_address(path), query={"version": version, "at": at}, headers=headers)[0]

    def write(self, path, content, content_type=None, if_version=None, **options):
        """Creates the file, or adds a version. Content is a str or bytes; options: note, idempotency_key."""
        fields = {"path": path, "contentType": content_type, "ifVersion": if_version}
        if isinstance(content, str):
            return self.api.write("/files", "POST", options, body={**fields, "content": content})
        return self.api.write("/files", "POST", options, query=fields, content=bytes(content))

    def append(self, path, content, if_version=None, **options):
        """Adds content to the end of an existing file."""
        address = _address(path, "/files/append")
        if isinstance(content, str):
            body = {"content": content, "ifVersion": if_version}
            return self.api.write(address, "PUT", options, body=body)
        query = {"raw": True, "ifVersion": if_version}
        return self.api.write(address, "PUT", options, query=query, content=bytes(content))

    def edit(self, path, what, new_string=None, if_version=None, replace_all=None, expected_occurrences=None, **options):
        """edit(path, old, new), or edit(path, edits) for several as one version."""
        if isinstance(what, str):
            body = {"oldString": what, "newString": new_string, "replaceAll": replace_all}
            body["expectedOccurrences"] = expected_occurrences
        elif isinstance(what, dict):
            body = _fields(what)
        else:
            body = {"edits": [_fields(edit) for edit in what]}
        body["ifVersion"] = if_version
        return self.api.write(_address(path, "/files/edit"), "PUT", options, body=body)

    def list(self, directory="", **options):
        """The files of a folder, in order of path. Options: recursive, at, deleted, and the API's filters."""
        for page in self.list_pages(directory, **options):
            yield from page["files"]

    def list_pages(self, directory="", **options):
        """The same by pages, which also name the sub-folders."""
        after = None
        while True:
            query = {**_fields(options), "directory": directory or "/", "limit": PAGE, "after": after}
            page = self.api.data("/files", query=query)
            yield page
            after = page.get("next") or (page["files"][-1]["path"] if page["files"] else None)
            if not page["hasMore"] or after is None:
                return

    def search(self, q, **options):
        return self.api.data("/search", query={"q": q, **_fields(options)})

    def history(self, path):
        """The versions of a file, the newest first."""
        offset, oldest = 0, float("inf")
        while True:
            query = {"versions": "", "limit": PAGE, "offset": offset}
            page = self.api.data(_address(path), query=query)
            # Versions that are added meanwhile move others to the next page.
            yield from (version for version in page["versions"] if version["version"] < oldest)
            if page["versions"]:
                oldest = page["versions"][-1]["version"]
            offset += PAGE
            if offset >= page["total"]:
                return

    def diff(self, path, from_version=None, to_version=None, to_path=None):
        query = {"from": from_version, "to": to_version, "toPath": to_path}
        return self.api.data(_address(path, "/diff"), query=query)

    def restore(self, path, version, if_version=None, **options):
        body = {"version": version, "ifVersion": if_version}
        return self.api.write(_address(path, "/files/restore"), "PUT", options, body=body)

    def delete(self, path, if_version=None, recursive=False, **options):
        """Deletes a file, or with recursive a folder. Its versions stay readable."""
        address = _address(path, "/folders" if recursive else "/files")
        return self.api.write(address, "DELETE", options, query={"ifVersion": if_version})

    def move(self, path, destination, **options):
        return self._place("move", path, destination, **options)

    def copy(self, path, destination, **options):
        return self._place("copy", path, destination, **options)

    def _place(self, action, path, destination, overwrite=None, if_version=None, recursive=False, **options):
        body = {"destination": destination, "overwrite": overwrite, "ifVersion": if_version}
        if recursive:
            return self.api.write(f"/folders/{action}", "POST", options, body={"path": path, **body})
        return self.api.write(_address(path, f"/files/{action}"), "PUT", options, body=body)

    def batch(self, operations, **options):
        """Executes all operations as one commit, or none."""
        body = {"operations": [_fields(operation) for operation in operations]}
        return self.api.write("/batch", "POST", options, body=body)

    def changes(self, after=None, follow=False, **filters):
        """The versions of the project, in the order of the change feed; with follow also later ones."""
        is_at_end = False
        while True:
            wait = FOLLOW_WAIT_SECONDS if is_at_end else None
            query = {**_fields(filters), "after": after, "limit": PAGE, "wait": wait}
            page = self.api.data("/changes", query=query)
            yield from page["changes"]
            after, is_at_end = page["cursor"], not page["hasMore"]
            if is_at_end and not follow:
                return


class Runs:
    """Runs: the versions that were written under one run id."""

    def __init__(self, api):
        self._api = api

    def list(self):
        after = None
        while True:
            page = self._api.data("/runs", query={"limit": PAGE, "after": after})
            yield from page["runs"]
            if not page["hasMore"]:
                return
            after = page["cursor"]

    def get(self, run, after=None):
        return self._api.data(_named_address("/runs", run), query={"after": after})

    def undo(self, run, note=None, idempotency_key=None, **fields):
        """Without dry_run=False it only returns the plan. Fields: dry_run, on_conflict, paths, keys."""
        options = {"note": note, "idempotency_key": idempotency_key}
        # An undo is a run of its own, so its run cannot be the one that it undoes.
        headers = {"x-run-id": None} if run == self._api.run else {}
        address = _named_address("/runs", run) + "/undo"
        return self._api.write(address, "POST", options, headers=headers, body=_fields(fields))


class Branches:
    """Branches: folders to work apart in, which are copies of other folders until they are merged or closed."""

    def __init__(self, api):
        self._api = api

    def create(self, name, **fields):
        """Copies a folder to .branches/{name}. Fields: directory, title, at, expires_in.

        After a lost answer BRANCH_ALREADY_EXISTS may mean the branch that this call has created: read it.
        """
        return self._api.data("/branches", "POST", body={**_fields(fields), "name": name})

    def list(self, state=None):
        """The newest first."""
        after = None
        while True:
            query = {"state": state, "limit": PAGE, "after": after}
            page = self._api.data("/branches", query=query)
            yield from page["branches"]
            if not page["hasMore"]:
                return
            after = page["cursor"]

    def get(self, name, after=None):
        """A branch and what has changed in it; after is the last path of the answer before."""
        return self._api.data(_named_address("/branches", name), query={"after": after})

    def change(self, name, **fields):
        """Fields: title, state, note, expires_in."""
        return self._api.data(_named_address("/branches", name), "PATCH", body=_fields(fields))

    def close(self, name, note=None):
        """Ends a branch without a merge. After a lost answer BRANCH_CLOSED may mean that this call has closed it."""
        return self.change(name, state="closed", note=note)

    def merge(self, name, **options):
        """Merges a branch into its folder. Without dry_run=False it only returns the plan.

        Options: dry_run, on_conflict, paths, resolutions, expected, keep, note, idempotency_key.
        """
        return self._bring("merge", name, **options)

    def update(self, name, **options):
        """Brings into a branch what has changed in its folder. Without dry_run=False it only returns the plan."""
        return self._bring("update", name, **options)

    def _bring(self, action, name, note=None, idempotency_key=None, resolutions=None, **fields):
        options = {"note": note, "idempotency_key": idempotency_key}
        body = _fields(fields)
        if resolutions is not None:
            body["resolutions"] = [_fields(resolution) for resolution in resolutions]
        return self._api.write(_named_address("/branches", name) + f"/{action}", "POST", options, body=body)


class Links:
    """Links: addresses that read one file, or write it once, without a key."""

    def __init__(self, api):
        self._api = api

    def create(self, path, purpose="read", **fields):
        """Purpose: read or write. Fields: expires_in, version, content_type, max_bytes, if_version."""
        return self._api.data("/links", "POST", body={**_fields(fields), "path": path, "for": purpose})

    def list(self):
        yield from self._api.data("/links")["links"]

    def delete(self, id):
        return self._api.data(f"/links/{_quoted(id)}", "DELETE")


def _address(path, route="/files"):
    """The address of a file. Refuses what would name another route, such as `..`."""
    is_text = isinstance(path, str) and not any("\ud800" <= letter <= "\udfff" for letter in path)
    names = path.split("/") if is_text else [""]
    has_control = is_text and any(unicodedata.category(letter) == "Cc" for letter in path)
    if any(name in ("", ".", "..") for name in names) or "\\" in path or has_control:
        message = "The path must be names separated by /, none of them empty, `.` or `..`, without control characters."
        raise FilestoreError("INVALID_PATH", message)
    if len(path.encode()) > PATH_BYTES_MAX:
        raise FilestoreError("INVALID_PATH", f"The path is longer than {PATH_BYTES_MAX} bytes of UTF-8.")
    return f"{route}/" + "/".join(_quoted(name) for name in names)


def _named_address(route, name):
    """The address of what has a name. A name of dots alone would change the address."""
    return f"{route}/" + (name.replace(".", "%252E") if set(name) == {"."} else _quoted(name))


def _fields(options):
    """The API's names of the options that are given."""
    camel = lambda name: re.sub(r"_([a-z])", lambda found: found.group(1).upper(), name)
    return {camel(name): value for name, value in options.items() if value is not None}


def _json(body):
    present = {name: value for name, value in body.items() if value is not None}
    try:
        return json.dumps(present).encode()
    except (TypeError, ValueError) as error:
        raise FilestoreError("VALIDATION_ERROR", str(error)) from None


def _quoted(text):
    try:
        return urllib.parse.quote(text, safe="")
    except UnicodeEncodeError:
        raise FilestoreError("VALIDATION_ERROR", "A text has a lone surrogate, which UTF-8 cannot carry.") from None


def _encoded(pairs):
    return "&".join(f"{name}={_quoted(value)}" for name, value in pairs)


def _text(value):
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        return None
