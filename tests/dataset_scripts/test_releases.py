"""The real releases give the rows that the records state, and no discussion, motion or product on two sides."""

from collections import Counter

import pytest

from dataset_scripts.base.metadata import get_corpus, load_metadata

FAMILIES = ["aae2_cmv", "arct", "chatstance", "iam", "nli_negation", "persona", "polis", "tweet_stance", "valueeval23"]
RAW = {  # within the folder of real corpora
    **{name: name for name in ("congress", "ibm_argkp", "imdb", "mr", "perspectrum", "pit2015", "sentiwordnet")},
    **{name: name for name in ("sick", "sst2", "stsb", "turl", *FAMILIES)},
    "amazon": "amazon/blitzer_mdsd_labelled.jsonl.gz",
    "counterargs18": "counterargs18/02-extracted-arguments.tar.xz",
    "kialo": "kialo/kialo_raw_txt.tar.xz",
    "sos": "sos",
    "vast": "vast arct",  # two paths
}
# the code that makes these of its sentences makes them of four smaller corpora, too
LARGE = {("imdb", "pairs"), ("imdb", "quadruples"), ("imdb", "sgts")}
# and not as others divided it
BY_GROUP = {"amazon", "counterargs18", "ibm_argkp", "imdb", "kialo", "perspectrum", "vast", *FAMILIES}


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("name", "config"),
    [(name, config) for name in RAW for config in load_metadata(name).expected if (name, config) not in LARGE],
)
def test_the_release(name, config, build, corpora):
    record = load_metadata(name)
    data, _ = build(get_corpus(name), [corpora / path for path in RAW[name].split()], config)
    expected = record.expected[config]
    if name == "pit2015":  # its train split is not passed on
        expected = {split: expected[split] for split in ("validation", "test")}
    assert data.num_rows == expected
    facts = record.expected_facts.get(config, {})
    assert {fact: build.facts[fact] for fact in facts} == facts
    if name in BY_GROUP and config not in ("counters_official", "quadruples", "sgts"):
        groups = [set(rows["group"]) for rows in data.values()]
        assert len(set.union(*groups)) == sum(map(len, groups))


@pytest.mark.corpora
def test_sick_has_the_papers_labels(build, corpora):
    data, _ = build(get_corpus("sick"), corpora / "sick")
    assert Counter(data["test"]["label"]) == {1: 5611, 2: 2857, 0: 1459}
