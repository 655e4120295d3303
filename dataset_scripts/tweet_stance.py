"""Tweets for and against: false claims on vaccines to train on, and politicians and pandemic measures to test on."""

import html
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from dataset_scripts.base.families import FamiliesCorpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import TEST_TOPICS, normalise
from dataset_scripts.base.reading import members, named
from dataset_scripts.base.schema import Item, family_row
from dataset_scripts.base.splits import split_groups

CLAIMS = "preprocessed.csv"  # VaccineLies
# files of a release -> their columns of text, target and side: VaccineLies, COVID-19 stance, P-Stance
LAYOUTS = {CLAIMS: ("text", "target", "label")}
for _part in ("train", "val", "test"):
    LAYOUTS[f"raw_{_part}_all_onecol.csv"] = ("Tweet", "Target 1", "Stance 1")
    LAYOUTS[f"raw_{_part}_all.csv"] = ("Tweet", "Target", "Stance")
SIDES = {"FAVOR": True, "2": True, "AGAINST": False, "3": False}
NO_SIDE = {"NONE", "0", "1"}  # 0: no stance, 1: not relevant
# what is tested on, as statements
TESTED = {
    "joe biden": "We should vote for Joe Biden.",
    "bernie sanders": "We should vote for Bernie Sanders.",
    "face masks": "We should wear face masks.",
    "fauci": "We should trust Dr. Fauci.",
    "school closures": "We should close the schools.",
    "stay at home orders": "We should be ordered to stay at home.",
}
# targets of VaccineLies that name a worry or doubt, so that to accept them is not to state them
_NO_CLAIM = re.compile("Unfounded Worry|Casting doubt|Lack of confidence|Moral exemption|Bill Gates admitting")
# some texts of VaccineLies are another tweet than the one that was judged, on anything and in any language
_ON_TOPIC = re.compile(
    r"vac+in|vax|\b(?:jab|shot)s?\b|gardasil|hpv|covid|corona|virus|immun|pfizer|moderna|merck|pharma|mrna|ivermectin"
    r"|chloroquine|fetal|infertil",
    re.IGNORECASE,
)
_LINK, _USER, _MARK = re.compile(r"https?:\S*"), re.compile(r"(?<!\w)@\w+"), re.compile(r"\s*#SemST\s*$", re.IGNORECASE)
TRAINED = {"train": 0.9, "validation": 0.1}


class TweetStance(FamiliesCorpus):
    """Families of one target each: tweets for it (pro) and against it (con).

    - VaccineLies, in train and validation by target: a false claim, tweets that accept it and tweets that reject it.
    - P-Stance and COVID-19 stance, whichever of their splits a tweet is in, are in test: nothing is to be trained on
      their targets. Donald Trump, whom other sets of tests have, is left out.

    Links and the mark of a shared task at the end are taken out of tweets, and user names are replaced by @user.
    """

    METADATA = load_metadata("tweet_stance")
    RAW = named(*LAYOUTS)
    ANY_SPELLING = ONE_SIDED = True

    def families(self, files: list[Path]) -> Iterator[tuple[str, Item]]:
        for member in members(files, lambda name: Path(name).name in LAYOUTS):
            columns, claims = LAYOUTS[Path(member.name).name], Path(member.name).name == CLAIMS
            for line, row in member.table(self.dropped, columns):
                text, statement, label = (normalise(row[column]) for column in columns)
                text = normalise(_MARK.sub("", _USER.sub("@user", _LINK.sub(" ", html.unescape(text)))))
                name = statement.lower()
                faults = {
                    "tweet: malformed": not (text and statement and label in {*SIDES, *NO_SIDE}),
                    "tweet: on a target that models are tested on": bool(TEST_TOPICS.search(statement)),
                    "tweet: on a target without a statement": not claims and name not in TESTED,
                    "tweet: on a target that is no claim": claims and _NO_CLAIM.match(statement) is not None,
                    "tweet: on no side": label in NO_SIDE,
                    "tweet: not on vaccines": claims and _ON_TOPIC.search(text) is None,
                    "tweet: on a topic that models are tested on": claims and bool(TEST_TOPICS.search(text)),
                }
                if not self.dropped.refuse(member.place(line), faults):
                    yield member.place(line), family_row(text, TESTED.get(name, statement), SIDES[label], name)

    def split(self, groups: Mapping[str, Collection[Item]]) -> dict[str, str]:
        claims = [name for name in groups if name not in TESTED]
        return dict.fromkeys(TESTED, "test") | (split_groups(claims, TRAINED, self.config.seed) if claims else {})
