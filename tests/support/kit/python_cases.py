"""What the library does, in Python: the cases of library_cases.ts. Arguments: folder of the client, address, key, case."""

import sys

sys.path.insert(0, sys.argv[1])
from filestore import Filestore, FilestoreError  # noqa: E402
from filestore_deepagents import FilestoreBackend  # noqa: E402

URL, KEY = sys.argv[2:4]


def equal(actual, expected):
    assert actual == expected, f"{actual!r} is not {expected!r}"


def code_of(work):
    try:
        work()
    except FilestoreError as error:
        return error.code
    return "nothing raised"


def texts_and_bytes(store):
    first = store.write("notes/ä b.md", "# Plan\n- ship\n", if_version=0)
    equal([first["version"], first["mimeType"]], [1, "text/markdown"])
    equal(store.append("notes/ä b.md", "- sleep\n")["version"], 2)
    edited = store.edit("notes/ä b.md", "ship", "ship it", if_version=2)
    equal([edited["version"], edited["replacements"]], [3, 1])
    store.edit("notes/ä b.md", [{"old_string": "#", "new_string": "##"}, {"old_string": "sleep", "new_string": "rest"}])
    read = store.read("notes/ä b.md")
    equal([read["content"], read["version"]], ["## Plan\n- ship it\n- rest\n", 4])
    equal(store.read("notes/ä b.md", version=1, lines="2-2")["content"], "- ship\n")
    equal(store.write("logo", b"\x00\xff\x01", content_type="image/png")["mimeType"], "image/png")
    store.append("logo", b"\x00x")
    equal(store.read_bytes("logo"), b"\x00\xff\x01\x00x")
    equal(store.read_bytes("logo", version=1), b"\x00\xff\x01")
    equal(store.write("plain.md", b"# x")["mimeType"], "text/markdown")


def pages(_):
    store = Filestore(URL, KEY, run="many")
    for begin in range(0, 150, 50):
        operations = [{"op": "write", "path": f"d/{begin + index:03}", "content": "x"} for index in range(50)]
        equal(len(store.batch(operations)["results"]), 50)
    store.batch([{"op": "append", "path": "d/000", "content": "x"}] * 100)
    paths = [file["path"] for file in store.list("d")]
    equal([len(paths), paths[0], paths[149]], [150, "d/000", "d/149"])
    versions = [version["version"] for version in store.history("d/000")]
    equal([len(versions), versions[0], versions[100]], [101, 101, 1])
    equal(len(list(store.changes())), 250)
    equal([(run["runId"], run["fileCount"]) for run in store.runs.list()], [("many", 150)])
    equal(len(store.runs.get("many")["files"]), 150)


def following(store):
    store.write("a", "1")
    seen = []
    for change in store.changes(follow=True):
        seen.append(change["version"])
        if len(seen) == 3:
            break
        store.append("a", "x")
    equal(seen, [1, 2, 3])


def places(store):
    store.write("d/a", "one two\n")
    store.write("d/a", "one three\n")
    equal(store.diff("d/a")["additions"], 1)
    equal(store.diff("d/a", from_version=2, to_version=1)["to"], 1)
    equal(store.copy("d/a", "d/b")["path"], "d/b")
    equal(code_of(lambda: store.copy("d/a", "d/b")), "FILE_ALREADY_EXISTS")
    equal(store.copy("d/a", "d/b", overwrite=True)["version"], 2)
    equal(store.move("d/b", "d/c")["path"], "d/c")
    equal(store.copy("d", "e", recursive=True)["count"], 2)
    equal(store.move("e", "f", recursive=True)["count"], 2)
    equal(store.delete("f", recursive=True)["count"], 2)
    equal(store.delete("d/c", if_version=1)["version"], 2)
    equal(store.restore("d/a", 1)["version"], 3)
    found = store.search("two", mode="text", directory="d")
    equal([(one["path"], one["matches"][0]["line"]) for one in found["results"]], [("d/a", 1)])


def runs(_):
    store = Filestore(URL, KEY, run="night-1", actor="planner")
    store.write("a", "1", note="größer")
    version = next(store.history("a"))
    equal([version["runId"], version["actor"], version["note"]], ["night-1", "planner", "größer"])
    equal([action["action"] for action in store.runs.undo("night-1")["actions"]], ["delete"])
    other = Filestore(URL, KEY, run="back")
    equal(other.runs.undo("night-1", dry_run=False)["runId"], "back")
    equal(code_of(lambda: store.read("a")), "FILE_NOT_FOUND")
    Filestore(URL, KEY).write("a", "2")
    equal(code_of(lambda: store.runs.undo("back", dry_run=False)), "RUN_CONFLICT")
    for odd in [".", "..", "a/b", "\ud800", "x y"]:
        assert code_of(lambda: store.runs.get(odd)) in ("RUN_NOT_FOUND", "VALIDATION_ERROR"), odd


def branches(store):
    store.write("notes/plan.md", "1\n2\n3\n")
    branch = store.branches.create("try-1", directory="notes", title="Shorter")
    equal([branch["path"], branch["state"], branch["fileCount"]], [".branches/try-1", "open", 1])
    store.write(".branches/try-1/plan.md", "1\n2\n3\n4\n")
    store.write("notes/plan.md", "0\n1\n2\n3\n")
    equal([change["path"] for change in store.branches.get("try-1")["changes"]], ["plan.md"])
    equal([action["action"] for action in store.branches.update("try-1", dry_run=False)["actions"]], ["merge"])
    equal(store.branches.change("try-1", state="ready", note="please")["state"], "ready")
    equal([one["name"] for one in store.branches.list(state="ready")], ["try-1"])
    equal(len(store.branches.merge("try-1")["actions"]), 1)
    equal(store.branches.merge("try-1", dry_run=False, note="reviewed")["actions"][0]["version"], 3)
    store.branches.create("try-2", directory="notes")
    store.write(".branches/try-2/plan.md", "x\n")
    store.write("notes/plan.md", "y\n")
    equal(code_of(lambda: store.branches.merge("try-2", dry_run=False)), "MERGE_CONFLICT")
    resolution = {"path": "plan.md", "content": "eA==", "is_base64": True}
    equal(store.branches.merge("try-2", resolutions=[resolution])["conflicts"], [])
    equal(store.branches.close("try-2", note="no")["state"], "closed")
    for odd in ["none", ".", "..", "a/b"]:
        equal(code_of(lambda: store.branches.get(odd)), "BRANCH_NOT_FOUND")


def links(store):
    store.write("a.txt", "hello")
    created = store.links.create("a.txt", expires_in=60)
    equal([one["id"] for one in store.links.list()], [created["id"]])
    store.links.delete(created["id"])
    equal(list(store.links.list()), [])


def refusals(store):
    store.write("a", "1")
    try:
        store.write("a", "2", if_version=7)
        raise AssertionError("no error")
    except FilestoreError as error:
        equal([error.code, error.status, error.details["version"]], ["PRECONDITION_FAILED", 412, 1])
        assert error.request_id
    equal(code_of(lambda: store.read("none")), "FILE_NOT_FOUND")
    for path in ["../keys", "", "/a", "a/", "a//b", "a\\b", "\ud800", "a\nb"]:
        equal(code_of(lambda: store.read(path)), "INVALID_PATH")
    equal(code_of(lambda: list(Filestore(URL, "oa_wrong").list())), "INVALID_API_KEY")
    equal(code_of(lambda: Filestore(URL, "oa_x\ny").read("a")), "VALIDATION_ERROR")
    equal(code_of(lambda: Filestore("ftp://x", KEY)), "VALIDATION_ERROR")
    equal(code_of(lambda: Filestore("http://nothing.invalid", KEY).read("a")), "NETWORK_ERROR")


def once(store):
    store.write("a", "1")
    for _ in range(2):
        store.append("a", "x", idempotency_key="job-1")
    equal(store.read("a")["content"], "1x")


def backend_writes(store):
    store.write("outside.md", "ship\n")
    backend = FilestoreBackend(store, "agents")
    equal(backend.write("/notes/plan.md", "# Plan\n- ship\n").path, "/notes/plan.md")
    equal(backend.edit("/notes/plan.md", "ship", "sleep").occurrences, 1)
    assert backend.edit("/notes/plan.md", "ship", "rest").error.startswith("STRING_NOT_FOUND: ")
    assert backend.edit("/nowhere.md", "a", "b").error.startswith("FILE_NOT_FOUND: ")
    equal(store.read("agents/notes/plan.md")["content"], "# Plan\n- sleep\n")
    uploaded = backend.upload_files([("/a.png", b"\x89PNG\x00"), ("/../b", b"x")])
    equal([(one.path, one.error) for one in uploaded], [("/a.png", None), ("/../b", "invalid_path")])
    downloaded = backend.download_files(["/a.png", "/nowhere"])
    equal([(one.content, one.error) for one in downloaded], [(b"\x89PNG\x00", None), (None, "file_not_found")])
    equal(backend.delete("/a.png").error, None)
    equal(backend.delete("/notes").path, "/notes")
    assert backend.delete("/nowhere").error
    equal([file["path"] for file in store.list(recursive=True)], ["outside.md"])
    refused = FilestoreBackend(Filestore(URL, "oa_wrong"))
    assert refused.write("/a", "x").error.startswith("INVALID_API_KEY: ")
    equal(refused.upload_files([("/a", b"x")])[0].error, "permission_denied")


def backend_reads(store):
    backend = FilestoreBackend(store)
    for path, content in {"plan.md": "one\ntwo\nthree\n", "empty.txt": "", "a.png": b"\x89PNG\x00"}.items():
        store.write(path, content)

    def window(*arguments):
        read = backend.read(*arguments)
        return [read.file_data["content"], read.start_line, read.end_line, read.total_lines, read.next_offset]

    equal(window("/plan.md"), ["one\ntwo\nthree\n", 1, 3, 3, None])
    equal(window("/plan.md", 1, 1), ["two\n", 2, 2, 3, 2])
    equal(window("/plan.md", -5, 2), ["one\ntwo\n", 1, 2, 3, 2])
    equal(window("/plan.md", 0, 0), ["", None, None, None, None])
    assert backend.read("/plan.md", 0, 0).no_lines_requested
    equal(window("/empty.txt"), ["", None, None, None, None])
    assert backend.read("/plan.md", 3).error and backend.read("/nowhere").error
    picture = backend.read("/a.png").file_data
    equal([picture["content"], picture["encoding"]], ["iVBORwA=", "base64"])
    assert backend.read("/plan.md").file_data["modified_at"].startswith("2")


def backend_finds(store):
    files = ["a.py", "src/b.py", "src/deep/c.py", ".github/ci.yml"]
    store.batch([{"op": "write", "path": f"in/{path}", "content": "ship\n(a|b) ship\n"} for path in files])
    store.write("out.py", "ship\n")
    backend = FilestoreBackend(store, "in")
    paths = lambda found: sorted(entry["path"] for entry in found)
    equal(paths(backend.ls("/").entries), ["/.github/", "/a.py", "/src/"])
    equal(paths(backend.ls("src/").entries), ["/src/b.py", "/src/deep/"])
    equal(backend.ls("/nowhere").entries, [])
    for pattern, path, found in [
        ("*.py", None, ["/a.py", "/src/b.py", "/src/deep/c.py"]),
        ("*.py", "/src", ["/src/b.py", "/src/deep/c.py"]),
        ("/*.py", "/", ["/a.py"]),
        ("src/**/*.py", None, ["/src/b.py", "/src/deep/c.py"]),
        ("*.{yml,md}", None, ["/.github/ci.yml"]),
        ("**/*.yml", None, []),
        ("[!a].py", "/", ["/src/b.py", "/src/deep/c.py"]),
        ("?.p*", "/src/deep", ["/src/deep/c.py"]),
    ]:
        equal(paths(backend.glob(pattern, path).matches), found)
    assert backend.glob("{a").error
    equal(len(backend.grep("ship").matches), 8)
    found = backend.grep("(a|b)", "/src", "*.py")
    equal([paths(found.matches), found.matches[0]["line"]], [["/src/b.py", "/src/deep/c.py"], 2])
    equal([found.matches[0]["text"], found.truncated], ["(a|b) ship", False])
    equal([len(backend.grep("ship", max_count=3).matches), backend.grep("ship", max_count=3).truncated], [3, True])
    equal([len(backend.grep("ship", max_count=8).matches), backend.grep("ship", max_count=8).truncated], [8, False])
    equal(backend.grep("Ship").matches, [])


CASES = [texts_and_bytes, pages, following, places, runs, branches, links, refusals, once]
CASES += [backend_writes, backend_reads, backend_finds]

if len(sys.argv) == 4:
    print(" ".join(case.__name__ for case in CASES))
else:
    next(case for case in CASES if case.__name__ == sys.argv[4])(Filestore(URL, KEY))
    print("done")
