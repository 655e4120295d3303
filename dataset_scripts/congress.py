"""Tweets of the United States Congress with the party of their account, to see whose posts a statement finds."""

from __future__ import annotations

import csv
import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import normalise
from dataset_scripts.base.reading import load_json, open_text
from dataset_scripts.base.schema import TEXTS

DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.json(\.gz)?")
ACCOUNTS = re.compile(r".*users.*\.json(\.gz)?", re.IGNORECASE)
ISSUES = re.compile(r".*\.csv(\.gz)?", re.IGNORECASE)
ISSUE_COLUMNS = ("tweet_id", "issue", "text", "author")
PARTIES = {"d": "D", "democrat": "D", "r": "R", "republican": "R", "i": "I", "independent": "I"}
Party = tuple[str | None, list[tuple[str, str | None]]]  # the last one, and [(until, earlier party)] by date


class Congress(Corpus):
    """Tweets with `group` = party (D, R or I); one test split, since nothing is to be trained on them.

    - `tweets`: the daily files of the congresstweets archive, joined with its map of accounts by user id, else by
      present or former screen name. A member who changed sides counts as what they were on the day. Retweets are kept,
      as in the paper; they begin with "RT @".
    - `issues`: tweets labelled with an issue (`topic`); neither account nor date is known.

    Every text with a party is kept, however short; HTML entities are resolved.
    """

    METADATA = load_metadata("congress")
    FEATURES = {"tweets": TEXTS, "issues": TEXTS}

    @classmethod
    def find_files(cls, path: Path) -> list[Path]:
        """Daily files, maps of accounts and labelled samples below a folder; for a file, the maps beside it too."""
        patterns = (DAY, ACCOUNTS, ISSUES)
        if path.is_file():
            beside = [file for file in sorted(path.parent.iterdir()) if ACCOUNTS.fullmatch(file.name) and file != path]
            return [path, *beside] if DAY.fullmatch(path.name) else [path]
        return [file for file in super().find_files(path) if any(p.fullmatch(file.name) for p in patterns)]

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields (split, row); see `Corpus.rows`.

        Raises:
            FileNotFoundError: If a kind of file that the configuration needs is missing.
        """
        if config == "tweets":
            accounts = self._accounts(_chosen(files, ACCOUNTS, "map of accounts (*users*.json)"))
            items = self._tweets(_chosen(files, DAY, "daily file (YYYY-MM-DD.json)"), accounts)
        else:
            items = self._issues(_chosen(files, ISSUES, "labelled sample (.csv)"))
        seen: set[str] = set()
        for row in items:
            row["text"] = normalise(html.unescape(row["text"]))
            if not row["text"]:
                self.dropped["tweet: empty text"] += 1
            elif row["id"] in seen:
                self.dropped["tweet: repeated id"] += 1
            elif row["group"] is None:
                self.dropped["tweet: account without a party"] += 1
            else:
                seen.add(row["id"])
                yield "test", row

    def _tweets(self, files: list[Path], accounts: dict[str, Party]) -> Iterator[dict[str, Any]]:
        for file in files:
            for tweet in load_json(file, list):
                try:
                    # strip() also tells strings from what else JSON may hold
                    author, text, date = tweet["screen_name"].strip(), tweet["text"].strip(), tweet["time"].strip()[:10]
                    row = {"id": str(tweet["id"]), "text": text, "author": author, "topic": "", "date": date}
                    party = accounts.get(str(tweet.get("user_id"))) or accounts.get("@" + author.lower())
                except (AttributeError, KeyError, TypeError):
                    self.dropped["tweet: malformed"] += 1
                    continue
                yield {**row, "group": _party_on(date, party)}

    def _accounts(self, files: list[Path]) -> dict[str, Party]:
        """User id, and "@" with lower-case screen name, -> party. The party of an account goes before its owner's."""
        accounts: dict[str, Party] = {}
        for file in files:
            for owner in load_json(file, list):
                try:
                    changes = [p for p in owner.get("prev_props", []) if "party" in p and "until" in p]
                    earlier = sorted((change["until"], _party(change["party"])) for change in changes)
                    for account in owner["accounts"]:
                        party = (_party(account.get("party", owner.get("party"))), earlier)
                        for key in _keys(account):
                            accounts.setdefault(key, party)
                except (AttributeError, KeyError, TypeError):
                    self.dropped["account: malformed"] += 1
        return accounts

    def _issues(self, files: list[Path]) -> Iterator[dict[str, Any]]:
        for file in files:
            with open_text(file) as stream:
                lines = csv.DictReader(stream)
                missing = [column for column in ISSUE_COLUMNS if column not in (lines.fieldnames or [])]
                if missing:
                    raise ValueError(f"{file}, line 1: no column {', '.join(missing)}; it is no labelled sample")
                for row in lines:
                    # an unquoted comma shifts the columns that follow the text
                    if None in row or None in row.values() or row["author"].lower() not in PARTIES:
                        self.dropped["tweet: malformed row"] += 1
                        continue
                    known = {"id": row["tweet_id"], "text": row["text"], "topic": row["issue"]}
                    yield {**known, "author": "", "date": "", "group": _party(row["author"])}


def _chosen(files: list[Path], pattern: re.Pattern[str], what: str) -> list[Path]:
    chosen = [file for file in files if pattern.fullmatch(file.name)]
    if not chosen:
        names = ", ".join(file.name for file in files[:5])
        raise FileNotFoundError(f"no {what} among {names}: add it, or build the other configuration only")
    return chosen


def _keys(account: dict[str, Any]) -> Iterator[str]:
    if account.get("id"):
        yield str(account["id"])
    former = account.get("prev_names", [])
    # most are strings; some are {id of the former owner: screen name}
    names = [name for item in former for name in (item.values() if isinstance(item, dict) else [item])]
    yield from ("@" + name.lower() for name in (account["screen_name"], *names))


def _party(name: str | None) -> str | None:
    return PARTIES.get((name or "").lower())


def _party_on(date: str, party: Party | None) -> str | None:
    if party is None:
        return None
    last, earlier = party
    return next((name for until, name in earlier if date <= until), last)
