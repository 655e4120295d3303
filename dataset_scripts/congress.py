"""Tweets of the United States Congress with the party of their account, to see whose posts a statement finds."""

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import normalise
from dataset_scripts.base.reading import members, named
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
    RAW = named(".json", ".csv", packed=False)
    FEATURES = {"tweets": TEXTS, "issues": TEXTS}

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        if config == "tweets":
            accounts = self._accounts(_chosen(files, ACCOUNTS, "map of accounts (*users*.json)"))
            items = self._tweets(_chosen(files, DAY, "daily file (YYYY-MM-DD.json)"), accounts)
        else:
            items = self._issues(_chosen(files, ISSUES, "labelled sample (.csv)"))
        seen: set[str] = set()
        for place, row in items:
            row["text"] = normalise(html.unescape(row["text"]))
            faults = {
                "tweet: empty text": not row["text"],
                "tweet: repeated id": row["id"] in seen,
                "tweet: account without a party": row["group"] is None,
            }
            if not self.dropped.refuse(place, faults):
                seen.add(row["id"])
                yield "test", row

    def _tweets(self, files: list[Path], accounts: dict[str, Party]) -> Iterator[tuple[str, dict[str, Any]]]:
        for member in members(files):
            for number, tweet in enumerate(member.json(list), start=1):
                place = f"{member.place()}, tweet {number:,}"
                with self.dropped.malformed("tweet: malformed", place):
                    # strip() also tells strings from what else JSON may hold
                    author, text, date = tweet["screen_name"].strip(), tweet["text"].strip(), tweet["time"].strip()[:10]
                    row = {"id": str(tweet["id"]), "text": text, "author": author, "topic": "", "date": date}
                    party = accounts.get(str(tweet.get("user_id"))) or accounts.get("@" + author.lower())
                    last, earlier = party or (None, [])
                    yield place, {**row, "group": next((name for until, name in earlier if date <= until), last)}

    def _accounts(self, files: list[Path]) -> dict[str, Party]:
        """User id, and "@" with a present or former screen name in small letters -> party.

        The party of an account goes before its owner's.
        """
        accounts: dict[str, Party] = {}
        for member in members(files):
            for number, owner in enumerate(member.json(list), start=1):
                with self.dropped.malformed("account: malformed", f"{member.place()}, owner {number:,}"):
                    changes = [p for p in owner.get("prev_props", []) if "party" in p and "until" in p]
                    earlier = sorted((change["until"], _party(change["party"])) for change in changes)
                    for account in owner["accounts"]:
                        party = (_party(account.get("party", owner.get("party"))), earlier)
                        if account.get("id"):
                            accounts.setdefault(str(account["id"]), party)
                        for former in (account["screen_name"], *account.get("prev_names", [])):
                            # some former names are {id of the former owner: screen name}
                            for name in former.values() if isinstance(former, dict) else [former]:
                                accounts.setdefault("@" + name.lower(), party)
        return accounts

    def _issues(self, files: list[Path]) -> Iterator[tuple[str, dict[str, Any]]]:
        # an unquoted comma shifts the columns that follow the text: such rows are too long, or without an author
        for place, row in self.table(files, ISSUE_COLUMNS):
            party = _party(row["author"])
            if not self.dropped.refuse(place, {"tweet: author is of no party": party is None}):
                texts = {"id": row["tweet_id"], "text": row["text"], "topic": row["issue"]}
                yield place, {**texts, "author": "", "date": "", "group": party}


def _chosen(files: list[Path], pattern: re.Pattern[str], what: str) -> list[Path]:
    chosen = [file for file in files if pattern.fullmatch(file.name)]
    if not chosen:
        names = ", ".join(file.name for file in files[:5])
        raise FileNotFoundError(f"no {what} among {names}: add it, or build the other configuration only")
    return chosen


def _party(name: str | None) -> str | None:
    return PARTIES.get((name or "").lower())
