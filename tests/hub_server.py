"""A Hub on the loopback address: enough of its HTTP interface for the real client libraries.

Every commit has its list of files and every file's bytes are stored once under their sha256. Uploads go through plain
Git LFS: the Xet protocol is not spoken, a client needs `HF_HUB_DISABLE_XET=1` (`HubServer.environment` sets it).
"""

from __future__ import annotations

import base64
import fnmatch
import hashlib
import json
import re
import secrets
import tempfile
import threading
import time
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote

import yaml

LFS_PATTERNS = ("*.safetensors", "*.parquet", "*.bin", "*.pt", "*.zip", "*.arrow", "*.png", "*tfevents*")
LFS_THRESHOLD = 10_000_000
POINTER_SIZE = 134
PREFIXES = {"model": "", "dataset": "datasets/", "space": "spaces/"}
TYPES = {None: "model", "models": "model", "datasets": "dataset", "spaces": "space"}


class HubError(Exception):
    """An answer that is not 2xx; the client turns `code` into its own exceptions, `extra` goes into the JSON."""

    def __init__(self, status: int, message: str, code: str | None = None, extra=None, headers=None):
        super().__init__(message)
        self.status, self.message, self.extra = status, message, extra or {}
        self.headers = {"X-Error-Message": message, **({"X-Error-Code": code} if code else {}), **(headers or {})}


class HubServer:
    """The server's state and its switches for tests; a context manager that serves while it is open."""

    def __init__(self) -> None:
        self._temporary = tempfile.TemporaryDirectory()
        self.root = Path(self._temporary.name)
        self.repositories: dict[tuple[str, str], dict] = {}
        # of one user, who may write to the namespaces; the second is for reading
        self.token, self.read_token = (f"hf_{secrets.token_hex(17)}" for _ in range(2))
        self.namespaces = {"tester", "org"}
        self.requests: list[str] = []  # as "METHOD /path"
        self.unknown: list[str] = []  # that no route answered
        self.publishers: dict[str, str] = {}  # token of a trusted publisher -> the one repository that it may write to
        self.lock = threading.RLock()
        self.faults: list[dict] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": self}))
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> HubServer:
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._temporary.cleanup()

    def environment(self, home: str | Path) -> dict[str, str]:
        """The variables that send a fresh process to this server and keep its caches under `home`."""
        switched_on = ("HF_HUB_DISABLE_XET", "HF_HUB_DISABLE_TELEMETRY", "HF_HUB_DISABLE_PROGRESS_BARS")
        switched_off = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE", "HF_EVALUATE_OFFLINE")
        # Named one by one, since a parent process may have set them, and then they count more than HF_HOME.
        caches = {f"HF_{name}_CACHE": f"{home}/{name.lower()}" for name in ("HUB", "MODULES", "DATASETS", "EVALUATE")}
        address = {"HF_ENDPOINT": self.url, "HF_TOKEN": self.token, "NO_PROXY": "127.0.0.1,localhost"}
        switches = dict.fromkeys(switched_on, "1") | dict.fromkeys(switched_off, "0")
        return {"HF_HOME": str(home), **address, **caches, **switches}

    @staticmethod
    def prepare_this_process(monkeypatch, home: str | Path) -> None:
        """Readies the client of the running test: online, no token and no cache of this machine, retries at once."""
        from huggingface_hub import constants

        for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
            monkeypatch.delenv(name, raising=False)
        settings = {"HF_HUB_OFFLINE": False, "HF_HUB_DISABLE_XET": True, "HF_TOKEN_PATH": f"{home}/no-token"}
        for name, value in {**settings, "HF_HUB_CACHE": f"{home}/hub"}.items():
            monkeypatch.setattr(constants, name, value)
        monkeypatch.setattr(time, "sleep", lambda seconds: None)

    def commits(self, repo_id: str, repo_type: str = "model") -> list[dict]:
        """Returns the commits, oldest first: oid, parent, title, date, files."""
        return self.repositories[repo_type, repo_id]["commits"]

    def files(self, repo_id: str, repo_type: str = "model", revision: str = "main") -> dict[str, dict]:
        """Returns the files of a revision: path to {oid, size, sha256, lfs}."""
        return self.commit_at(self.repositories[repo_type, repo_id], revision)["files"]

    def read(self, repo_id: str, path: str) -> bytes:
        """Returns one file's bytes as they were committed to a model."""
        return self.blob(self.files(repo_id)[path]["sha256"]).read_bytes()

    def fail_next(self, n: int = 1, on: str = "^(PUT|POST)", after: int = 0, status: int | None = None, late=False):
        """Makes the next n requests fail whose "METHOD /path" matches, once `after` of them have passed.

        They are answered with a status; without one the connection is dropped in the middle of the body, or, if `late`,
        when the work is done, of which the client does not learn.
        """
        self.faults.append({"on": re.compile(on), "pass": after, "left": n, "status": status, "late": late})

    def fault(self, request: str) -> dict | None:
        with self.lock:
            for fault in self.faults:
                if fault["left"] and fault["on"].search(request):
                    fault["pass"] -= 1
                    if fault["pass"] < 0:
                        fault["left"] -= 1
                        return fault
        return None

    def blob(self, sha256: str) -> Path:
        return self.root / sha256

    def store(self, data: bytes, lfs: bool = False) -> dict:
        """Keeps the bytes and returns their entry in a commit."""
        sha256 = hashlib.sha256(data).hexdigest()
        self.blob(sha256).write_bytes(data)
        return self.entry(sha256, len(data), lfs)

    def entry(self, sha256: str, size: int, lfs: bool) -> dict:
        # Git holds the pointer of an LFS file, so its blob id is the pointer's.
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {size}\n".encode()
        content = pointer if lfs else self.blob(sha256).read_bytes()
        oid = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        return {"oid": oid, "size": size, "sha256": sha256, "lfs": lfs}

    def add_commit(self, repo: dict, title: str, files: dict[str, dict]) -> dict:
        parent = repo["commits"][-1]["oid"] if repo["commits"] else None
        tree = [(path, entry["oid"]) for path, entry in sorted(files.items())]
        oid = hashlib.sha1(json.dumps([parent, title, tree]).encode()).hexdigest()
        date = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        commit = {"oid": oid, "parent": parent, "title": title, "date": date, "files": files}
        repo["commits"].append(commit)
        return commit

    def commit_at(self, repo: dict, revision: str) -> dict:
        if revision in ("main", "refs/heads/main"):
            return repo["commits"][-1]
        for commit in repo["commits"]:
            if commit["oid"] == revision:
                return commit
        raise HubError(404, f"Invalid rev id: {revision}", "RevisionNotFound")


ROUTES: list[tuple[re.Pattern, object]] = []
API = r"/api/(?P<kind>models|datasets|spaces)/(?P<name>[^/]+/[^/]+)"
GIT = r"/(?:(?P<kind>datasets|spaces)/)?(?P<name>[^/]+/[^/]+)"


def route(pattern: str):
    """Registers a handler method for requests "METHOD /path" that match the whole pattern."""

    def register(function):
        ROUTES.append((re.compile(pattern), function))
        return function

    return register


class _Handler(BaseHTTPRequestHandler):
    hub: HubServer
    protocol_version = "HTTP/1.1"
    # One segment per write would wait for the client's delayed acknowledgement, 40 ms a request.
    disable_nagle_algorithm = True

    def log_message(self, *_) -> None:
        """Silence: the requests are in `HubServer.requests`."""

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        request = f"{self.command} {path}"
        self.query = parse_qs(query)
        self.hub.requests.append(request)
        fault = self.hub.fault(request)
        if fault and fault["status"] is None and not fault["late"]:
            self.rfile.read(int(self.headers.get("Content-Length") or 0) // 2)
            return self._drop()
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            if fault and fault["status"]:
                raise HubError(fault["status"], "failure asked for by the test")
            status, answer, headers = self._answer(request)
        except HubError as error:
            status, answer, headers = error.status, {"error": error.message, **error.extra}, error.headers
        if fault and fault["late"]:
            return self._drop()
        self._send(status, answer, headers)

    do_HEAD = do_POST = do_PUT = do_GET

    def _answer(self, request: str) -> tuple[int, object, dict]:
        for pattern, function in ROUTES:
            if match := pattern.fullmatch(request):
                groups = {key: unquote(value) for key, value in match.groupdict(default="").items() if key != "kind"}
                if "kind" in pattern.groupindex:
                    self.repo_type = TYPES[match["kind"]]
                result = function(self, **groups)
                return result if isinstance(result, tuple) else (200, result, {})
        self.hub.unknown.append(request)
        raise HubError(404, "Not found")

    def _drop(self) -> None:
        self.close_connection = True
        self.connection.close()

    def _send(self, status: int, answer: object, headers: dict) -> None:
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        kind = "application/octet-stream" if isinstance(answer, bytes) else "application/json"
        for key, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _may_write(self) -> bool | str | None:
        """Returns True or False for the two tokens, a trusted publisher's repository, and None without a token."""
        header = self.headers.get("Authorization")
        if not header:
            return None
        known = {f"Bearer {self.hub.token}": True, f"Bearer {self.hub.read_token}": False}
        known |= {f"Bearer {token}": repository for token, repository in self.hub.publishers.items()}
        if header not in known:
            raise HubError(401, "Invalid credentials in Authorization header")
        return known[header]

    def _need_write(self, namespace: str, name: str | None = None) -> None:
        may_write = self._may_write()
        if may_write is None:
            raise HubError(401, "Invalid username or password.")
        if isinstance(may_write, str) and (name is None or may_write != f"{PREFIXES[self.repo_type]}{name}"):
            raise HubError(403, f"The token is of {may_write}")
        if not may_write or namespace not in self.hub.namespaces:
            raise HubError(403, f"You don't have the rights to write under the namespace {namespace!r}")

    def _repo(self, name: str, write: bool = False) -> dict:
        if write:
            self._need_write(name.split("/")[0], name)
        repo = self.hub.repositories.get((self.repo_type, name))
        signed_in = self._may_write() is not None
        if repo is None or (repo["private"] and not signed_in):
            # Like the Hub: who has no token is not told whether a private repository exists.
            raise HubError(404 if signed_in else 401, "Repository not found", "RepoNotFound")
        return repo

    @route("POST /oauth/token")
    def exchange(self):
        """A trusted publisher is set up for every repository that there is."""
        resource = json.loads(self.body)["resource"]
        if resource not in {f"{PREFIXES[kind]}{name}" for kind, name in self.hub.repositories}:
            raise HubError(400, "invalid_grant")
        token = f"hf_jwt_{secrets.token_hex(17)}"
        self.hub.publishers[token] = resource
        return {"access_token": token, "token_type": "bearer", "expires_in": 3600}

    @route("POST /api/repos/create")
    def create(self):
        wish = json.loads(self.body)
        namespace, kind = wish.get("organization") or "tester", wish.get("type") or "model"
        self._need_write(namespace)
        repo_id = f"{namespace}/{wish['name']}"
        answer = {"url": f"{self.hub.url}/{PREFIXES[kind]}{repo_id}", "name": repo_id, "id": "1"}
        with self.hub.lock:
            if (kind, repo_id) in self.hub.repositories:
                raise HubError(409, f"You already created this {kind} repo", extra=answer)
            repo = {"id": repo_id, "type": kind, "sdk": wish.get("sdk"), "commits": []}
            repo["private"] = wish.get("visibility") == "private" or bool(wish.get("private"))
            attributes = "".join(f"{pattern} filter=lfs diff=lfs merge=lfs -text\n" for pattern in LFS_PATTERNS)
            files = {".gitattributes": self.hub.store(attributes.encode())}
            if kind == "space":
                files["README.md"] = self.hub.store(f"---\ntitle: {wish['name']}\nsdk: {wish['sdk']}\n---\n".encode())
            self.hub.add_commit(repo, "initial commit", files)
            self.hub.repositories[kind, repo_id] = repo
        return answer

    @route("POST /api/validate-yaml")
    def validate_yaml(self):
        card = re.match(r"---\r?\n(.*?)\n---", json.loads(self.body)["content"], re.DOTALL)
        try:
            metadata = yaml.safe_load(card[1]) if card else None
        except yaml.YAMLError as error:
            return 400, {"errors": [{"message": str(error)}], "warnings": []}, {}
        return {"errors": [], "warnings": [] if metadata else [{"message": "empty or missing yaml metadata"}]}

    @route(rf"POST {API}/preupload/(?P<revision>[^/]+)")
    def preupload(self, name, revision):
        present = self.hub.commit_at(self._repo(name, write=True), revision)["files"]
        answer = []
        for file in json.loads(self.body)["files"]:
            lfs = file["size"] > LFS_THRESHOLD or any(fnmatch.fnmatch(file["path"], rule) for rule in LFS_PATTERNS)
            old = present.get(file["path"])
            oid = old and (old["sha256"] if old["lfs"] else old["oid"])
            mode = "lfs" if lfs else "regular"
            answer.append({"path": file["path"], "uploadMode": mode, "shouldIgnore": False, "oid": oid})
        return {"files": answer}

    @route(rf"POST {GIT}\.git/info/lfs/objects/batch")
    def lfs_batch(self, name):
        self._repo(name, write=True)
        objects = []
        for item in json.loads(self.body)["objects"]:
            if not self.hub.blob(item["oid"]).exists():
                upload = {"href": f"{self.hub.url}/lfs/{item['oid']}"}
                verify = {"href": f"{self.hub.url}/{PREFIXES[self.repo_type]}{name}.git/info/lfs/objects/verify"}
                item = {**item, "actions": {"upload": upload, "verify": verify}}
            objects.append(item)
        return {"transfer": "basic", "objects": objects}

    @route(r"PUT /lfs/(?P<oid>[0-9a-f]{64})")
    def lfs_upload(self, oid):
        self.hub.store(self.body)
        return {}

    @route(rf"POST {GIT}\.git/info/lfs/objects/verify")
    def lfs_verify(self, name):
        self._repo(name, write=True)
        return {}

    @route(rf"POST {API}/commit/(?P<revision>[^/]+)")
    def commit(self, name, revision):
        with self.hub.lock:
            repo = self._repo(name, write=True)
            files = dict(self.hub.commit_at(repo, revision)["files"])
            title = ""
            for line in self.body.splitlines():
                key, value = (item := json.loads(line))["key"], item["value"]
                if key == "header":
                    title = value["summary"]
                    if value.get("parentCommit", repo["commits"][-1]["oid"]) != repo["commits"][-1]["oid"]:
                        raise HubError(412, "A commit has happened since. Please refresh and try again.")
                elif key == "file":
                    files[value["path"]] = self.hub.store(base64.b64decode(value["content"]))
                elif key == "lfsFile":
                    size = self.hub.blob(value["oid"]).stat().st_size
                    files[value["path"]] = self.hub.entry(value["oid"], size, lfs=True)
                elif key == "deletedFile":
                    del files[value["path"]]
            commit = self.hub.add_commit(repo, title, files)
        url = f"{self.hub.url}/{name}/commit/{commit['oid']}"
        return {"success": True, "commitOid": commit["oid"], "commitUrl": url, "hookOutput": ""}

    @route(rf"GET {API}(?:/revision/(?P<revision>[^/]+))?")
    def info(self, name, revision):
        repo = self._repo(name)
        commit = self.hub.commit_at(repo, revision or "main")
        siblings = [{"rfilename": path} for path in sorted(commit["files"])]
        dates = {"createdAt": repo["commits"][0]["date"], "lastModified": commit["date"]}
        numbers = {"gated": False, "disabled": False, "downloads": 0, "likes": 0, "tags": []}
        about = {"author": name.split("/")[0], "private": repo["private"], "sdk": repo["sdk"], "sha": commit["oid"]}
        return {"_id": "1", "id": name, "modelId": name, "siblings": siblings, **dates, **numbers, **about}

    @route(rf"GET {API}/tree/(?P<revision>[^/]+)(?:/(?P<folder>.+))?")
    def tree(self, name, revision, folder):
        files, prefix = self.hub.commit_at(self._repo(name), revision)["files"], f"{folder}/" if folder else ""
        inside = [path for path in sorted(files) if path.startswith(prefix)]
        deep = self.query.get("recursive", ["false"])[0].lower() in ("true", "1")
        folders = {str(parent) for path in inside for parent in Path(path).parents if str(parent).startswith(prefix)}
        shown = [path for path in (*inside, *(folders - {"."})) if deep or "/" not in path[len(prefix) :]]
        return [self._describe(path, files.get(path)) for path in sorted(shown)]

    @route(rf"(?:GET|HEAD) {GIT}/resolve/(?P<revision>[^/]+)/(?P<path>.+)")
    def resolve(self, name, revision, path):
        commit = self.hub.commit_at(self._repo(name), revision)
        headers, entry = {"X-Repo-Commit": commit["oid"]}, commit["files"].get(path)
        if entry is None:
            raise HubError(404, "Entry not found", "EntryNotFound", headers=headers)
        data, tag = self.hub.blob(entry["sha256"]).read_bytes(), entry["sha256" if entry["lfs"] else "oid"]
        return 200, data, headers | {"ETag": f'"{tag}"', "X-Linked-ETag": f'"{tag}"', "X-Linked-Size": str(len(data))}

    @staticmethod
    def _describe(path: str, entry: dict | None) -> dict:
        if entry is None:
            return {"type": "directory", "path": path, "size": 0, "oid": "0" * 40}
        lfs = {"oid": entry["sha256"], "size": entry["size"], "pointerSize": POINTER_SIZE}
        about = {"type": "file", "path": path, "size": entry["size"], "oid": entry["oid"]}
        return about | ({"lfs": lfs} if entry["lfs"] else {})
