"""A sixth system is a folder, and no edit of what is there: trained, evaluated and staged to be published."""

import sys

import pytest
from sentence_transformers import SentenceTransformer

import modeling
from modeling.base import rooms
from modeling.base.commands import parse
from modeling.base.publish import publish_run
from modeling.base.recipe import list_recipes
from modeling.base.run import run

FILES = {
    "__init__.py": '''
"""Agreement: sentences that agree lie close together."""

from pydantic import Field

from modeling.base.recipe import HoldOptions, TestSource


class Options(HoldOptions):
    """Options of the system."""

    margin: float = Field(0.5, gt=0, le=2)
    """distance beyond which opposing texts cost nothing"""
    similarity: TestSource = None
    """source of scored pairs, to see what is forgotten; none: those of data"""
''',
    "system.py": '''
"""Agreement: pairs that agree are drawn together, the others pushed apart."""

from sentence_transformers.sentence_transformer.losses import ContrastiveLoss

from dataset_scripts.base.sources import source_name
from modeling.base.evaluation import SimilarityEvaluator, of_source
from modeling.base.system import Data, Phase, System


class AgreementSystem(System):
    """The system of no paper."""

    PRIMARY = "similarity_spearman"
    DEMONSTRATIONS = [("We love trams.", "We hate trams.", "opposite")]

    def load_data(self):
        (source,) = self.recipe.data
        rows = self.rows(source, "pairs", "train", self.recipe.max_train_rows)
        counts = {"pairs in training": len(rows)}
        return Data({"pairs": rows.select_columns(["sentence1", "sentence2", "label"])}, [source_name(source)], counts)

    def phases(self, model, data):
        loss = ContrastiveLoss(model, margin=self.options.margin)
        yield Phase("pairs", data.train["pairs"], loss, self.recipe.epochs)

    def evaluators(self, split):
        source = self.options.similarity or self.recipe.data[0]
        rows = self.rows(source, "similarity", split)
        return [SimilarityEvaluator(rows, title="similarity", **of_source(source, split))]
''',
    "paper.yaml": """
base: org/tiny
setup: nothing at all
link: https://arxiv.org/abs/2601.00001
citation: "@misc{nobody2026}"
headline: {name: a margin of a half, settings: {margin: 0.5}}
tables:
  - table: Table 1
    base: {similarity_spearman: 0.8}
    rows: [{settings: {margin: 0.5}, values: {similarity_spearman: 0.9}}]
""",
    "recipes/agreement-demo.yaml": """
system: agreement
learning_rate: 0.01
batch_size: 8
max_steps: 6
eval_steps: 3
options: {margin: 0.5}
""",
}


@pytest.fixture
def sixth(tmp_path, monkeypatch):
    """The system in a folder of its own, beside the package."""
    for name, text in FILES.items():
        path = tmp_path / "rooms" / "agreement" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.lstrip(), encoding="utf-8")
    monkeypatch.setattr(modeling, "__path__", [*modeling.__path__, str(tmp_path / "rooms")])
    yield "agreement"
    for name in [name for name in sys.modules if name.startswith("modeling.agreement")]:
        del sys.modules[name]
    vars(modeling).pop("agreement", None)


def test_a_sixth_system(sixth, tmp_path, tiny_base, tiny_data, capsys):
    assert sixth in rooms.systems() and "agreement-demo" in list_recipes()
    words = f"agreement-demo --base {tiny_base} --base-id org/tiny --data {tiny_data}".split()
    words += ["--output-dir", str(tmp_path / "runs"), "--cache-dir", str(tmp_path / "cache")]
    with pytest.raises(SystemExit):
        parse("Trains.", [*words, "--help"])
    assert "distance beyond which opposing texts cost nothing" in capsys.readouterr().out
    with pytest.raises(ValueError, match="--margin 3"):
        parse("Trains.", [*words, "--margin", "3"])
    recipe, _ = parse("Trains.", words)
    results = run(recipe)
    assert (results["system"], [phase["steps"] for phase in results["phases"]]) == (sixth, [6])
    # the paper's figure beside ours, of the same encoder
    assert results["paper"]["similarity_spearman"]["trained"] == 0.9
    assert "0.900" in capsys.readouterr().out
    model = SentenceTransformer(str(recipe.run_dir / "merged"), device="cpu")
    assert model.similarity(*model.encode(["we love the trams", "we hate the trams"])) < 1
    staged = publish_run(recipe.run_dir, "org/agreement", dry_run=True)
    assert [each["repo_id"] for each in staged] == ["org/agreement", "org/agreement-adapter"]
    assert "nobody2026" in (recipe.run_dir / "staged" / "merged" / "README.md").read_text()
