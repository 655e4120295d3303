"""`opinion probe`: the evaluation of SentiCSE for any sentence encoder, in one frame of figures and pivots of it.

Every figure is kept as soon as it is computed: a command that was interrupted, or is given again with one more model,
goes on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dataset_scripts.base import cli
from dataset_scripts.base.files import missing_folder, read_json, write_text
from modeling.base.names import check_model
from modeling.base.recipe import Recipe

if TYPE_CHECKING:
    import pandas as pd
    from sentence_transformers import SentenceTransformer

    from modeling.senticse.probing.data import Corpus
    from modeling.senticse.probing.probes import Vectors

VERSION = 1  # of what is kept: one more where the same options give other figures
CORPORA = ("imdb", "sst2", "yelp", "amazon", "mr")  # of the paper
PAPER = ["paper, RoBERTa", "paper, SentiCSE"]
TRAINED = {"frozen": "classifier", "fine_tuned": "encoder too"}
LEAST_MODELS = 3  # two points always lie on a line

app = cli.app("Sentiment.")


@app.command()
def probe(
    models: Annotated[list[str], typer.Argument(metavar="MODEL", help="What to probe; a column each.")],
    sentiment: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SOURCE,...",
            callback=cli.split_commas,
            help="Corpora of labelled sentences: folders written by opinion corpus build, data sets on the Hub, or "
            "'demo' (the default).",
        ),
    ] = None,
    shots: Annotated[str, typer.Option(metavar="K,...", help="Training texts per class.")] = "1,5",
    seeds: Annotated[int, typer.Option(min=1, help="Few-shot draws.")] = 10,
    fine_tune: Annotated[
        bool, typer.Option("--fine-tune", help="Few-shot also as in the paper, encoder and head trained.")
    ] = False,
    fine_tune_seeds: Annotated[int | None, typer.Option(min=1, help="Draws for that (default: as --seeds).")] = None,
    learning_rate: Annotated[float, typer.Option(min=1e-9, max=1, help="For that; the paper's.")] = 1e-5,
    max_test: Annotated[int, typer.Option(min=1, help="Test texts for that.")] = 500,
    validation: Annotated[int, typer.Option(min=1, help="Validation texts of a draw; the paper's.")] = 500,
    max_rows: Annotated[int | None, typer.Option(min=1, help="Seeded, balanced sample of each split.")] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", file_okay=False, help="Folder to write to.")] = None,
    cache_dir: Annotated[str, typer.Option(help="Where figures are kept.")] = Recipe.model_fields["cache_dir"].default,
) -> None:
    """Probe encoders for sentiment: SgTS, linear and few-shot classification, alignment and uniformity."""
    for model in models:
        check_model(model)
    sources, numbers = sentiment or ["demo"], sorted({word.strip() for word in shots.split(",")}, key=len)
    if wrong := [word for word in numbers if not word.isdecimal() or int(word) < 1]:
        raise ValueError(f"--shots {wrong[0]}: it must be whole numbers above 0, by commas")
    for source in sources:
        if folder := missing_folder(source):
            raise ValueError(
                f"--sentiment: there is no folder {folder}; build it with opinion corpus build CORPUS RAW -o {folder}"
            )

    import pandas as pd

    from dataset_scripts.base.tables import write_table
    from modeling.base.models import labels, load_model
    from modeling.base.run import quiet
    from modeling.senticse.probing.data import load_corpus
    from modeling.senticse.probing.probes import draw

    quiet()
    cache = Path(cache_dir).expanduser()
    few = [
        (variant, int(k), seed)
        for variant, draws in (("frozen", seeds), ("fine_tuned", fine_tune_seeds or seeds))
        for k in numbers
        for seed in range(draws)
        if variant == "frozen" or fine_tune
    ]
    corpora = {name: load_corpus(source, name, cache, max_rows) for source, name in labels(sources).items()}
    for name, corpus in corpora.items():
        for k in numbers:
            try:
                draw(corpus.train.labels, corpus.classes, int(k), 0, validation)
            except ValueError as error:
                raise ValueError(f"--sentiment {name}: {error}") from error
    heads = labels(list(dict.fromkeys(models)))
    encoders = {label: load_model(model) for model, label in heads.items()}
    protocol = {"validation": validation, "max_test": max_test, "learning_rate": learning_rate}
    frame = pd.DataFrame(measure(encoders, corpora, few, protocol, cache))
    options = {label: run_options(model) for model, label in heads.items()}
    text = render(frame, corpora, options, seeds, protocol if fine_tune else None)
    print(f"\n{text}")
    if out:
        plots = draw_pictures(frame, encoders, corpora, cache, out / "plots")
        write_text(out / "table.md", "\n\n".join([text, *plots]) + "\n")
        write_table(frame, out / "results.csv")
        print(f"\nwritten to {out}: table.md, results.csv, plots/")


@dataclass
class Subject:
    """A model on a corpus: what a figure is computed from.

    Attributes:
        label: What the model is called in messages.
        model: The encoder; it stays as it is.
        corpus: The corpus.
        cache: Where vectors are kept.
    """

    label: str
    model: SentenceTransformer
    corpus: Corpus
    cache: Path
    _vectors: dict[str, Vectors] = field(default_factory=dict)

    def vectors(self, split: str) -> Vectors:
        """Unit vectors of a split with the classes of its texts."""
        import numpy as np

        from modeling.base.vectors import Vectors as Embeddings
        from modeling.senticse.probing.probes import Vectors

        if split not in self._vectors:
            texts = getattr(self.corpus, split)
            embeddings = Embeddings(self.model, self.cache / "embeddings")(texts.texts)
            self._vectors[split] = Vectors(np.asarray(embeddings), texts.labels)
        return self._vectors[split]


def measure(
    encoders: Mapping[str, SentenceTransformer],
    corpora: Mapping[str, Corpus],
    few: Sequence[tuple[str, int, int]],
    protocol: Mapping[str, Any],
    cache: Path,
) -> list[dict[str, Any]]:
    """All figures, those that were computed before from disk.

    Args:
        encoders: Label -> encoder.
        corpora: Name -> corpus.
        few: (variant, texts per class, seed) of each few-shot draw.
        protocol: The options of few-shot classification.
        cache: Where vectors and figures are kept.

    Returns:
        Rows with `model`, `data`, `metric`, `variant`, `k`, `seed` and `value`.
    """
    from tqdm.auto import tqdm

    from modeling.base.models import identity
    from modeling.base.results import memory

    cached, rows = memory(cache).cache(_figure, ignore=["subject"]), []
    cells = [(name, None, None) for name in ("sgts", "geometry", "linear_probe")] + list(few)
    work = [(corpus, label, *cell) for corpus in corpora for label in encoders for cell in cells]
    identities = {label: identity(encoder) for label, encoder in encoders.items()}
    subjects = {
        (corpus, label): Subject(label, encoders[label], corpora[corpus], cache)
        for corpus in corpora
        for label in encoders
    }
    digests = {name: corpus.digest() for name, corpus in corpora.items()}
    with tqdm(work, unit="figure", disable=None) as bar:
        for corpus, label, name, k, seed in bar:
            bar.set_description(f"{label}, {corpus}, {name}" + ("" if k is None else f", {k} per class"))
            options = dict(protocol) if name == "fine_tuned" else {"validation": protocol["validation"]}
            key = (identities[label], digests[corpus], name, k, seed, {} if k is None else options, VERSION)
            try:
                figures = cached(*key, subjects[corpus, label])
            except ValueError as error:
                raise ValueError(f"{label} on {corpus}, {name}: {error}") from error
            row = {"model": label, "data": corpus, "variant": None if k is None else name, "k": k, "seed": seed}
            rows += [row | {"metric": metric, "value": value} for metric, value in figures.items()]
    return rows


def _figure(
    model: str, data: str, name: str, k: int | None, seed: int | None, options: dict, version: int, subject: Subject
) -> dict[str, float]:
    """The figures of a cell: metric -> value. All but the subject tell one cell from another."""
    from modeling.senticse.evaluation import SgtsEvaluator
    from modeling.senticse.probing import probes
    from modeling.senticse.probing.data import balanced

    corpus = subject.corpus
    if name == "sgts":
        rows = dict(zip(("sentence1", "sentence2", "label"), corpus.pairs, strict=True))
        evaluator = SgtsEvaluator(rows, title="pairs", dataset=corpus.name, dataset_id=corpus.name)
        values = evaluator.metrics(evaluator.scores(subject.model, subject.cache / "embeddings"))
        return {key: value for key, value in values.items() if key != "sgts"}
    if name == "geometry":
        embeddings, labels = subject.vectors("test")
        return {"alignment": probes.alignment(embeddings, labels), "uniformity": probes.uniformity(embeddings)}
    if name == "linear_probe":
        return {name: probes.linear_probe(*map(subject.vectors, ("train", "validation", "test")))["accuracy"]}
    if name == "frozen":
        train, test = subject.vectors("train"), subject.vectors("test")
        result = probes.frozen(train, test, corpus.classes, k, seed, options["validation"])
    else:
        test = corpus.test.take(balanced(corpus.test.labels, options["max_test"]))
        result = probes.fine_tuned(
            subject.model, corpus.train, test, corpus.classes, k, seed, options["validation"], options["learning_rate"]
        )
    return {"few_shot": result["accuracy"]}


def run_options(model: str) -> dict[str, Any] | None:
    """The options of a run of this system, where the model is one; they tell which ablation of the paper it is."""
    path = Path(model).expanduser()
    for folder in (path, path.parent) if path.is_dir() else ():
        results = read_json(folder / "results.json")
        if results and results.get("system") == Path(__file__).parent.name:
            return results["recipe"]
    return None


def render(
    frame: pd.DataFrame,
    corpora: Mapping[str, Corpus],
    options: Mapping[str, Mapping[str, Any] | None],
    seeds: int,
    fine_tuning: Mapping[str, Any] | None,
) -> str:
    """All tables as Markdown, in the order of the paper's, with what their reader has to know.

    Args:
        frame: From `measure`.
        corpora: Name -> corpus.
        options: Label of a model -> the options of its run, if it is one.
        seeds: Few-shot draws.
        fine_tuning: The options of few-shot classification, where encoders were trained.
    """
    import pandas as pd

    from dataset_scripts.base.tables import markdown
    from modeling.base.paper import Paper

    paper = Paper.read(Path(__file__).with_name("paper.yaml"))
    printed = paper.printed(paper.headline)

    def rows(metric: str, template: str | None, show: Callable[[float], str] = "{:.3f}".format, **keys: Any):
        """Rows of a measure, a corpus each and their mean; a column for each model, the paper's before them."""
        here = frame[frame["metric"] == metric]
        for column in {"variant", "k"} & keys.keys():
            here = here[here[column] == keys[column]]
        groups = here.groupby(["data", "model"], sort=False)["value"]
        table = groups.mean().unstack()[frame["model"].unique()]
        of_paper = [printed.get((template or "").format(paper_corpus(corpus)), {}) for corpus in table.index]
        for place, (head, key) in enumerate(zip(PAPER, ("base", "trained"), strict=True)):
            table.insert(place, head, pd.Series([each.get(key) for each in of_paper], table.index, float))
        if len(table) > 1:
            table.loc["mean"] = table.mean(skipna=False)
        text = table.astype(object).map(lambda value: "" if value != value else show(value))
        if "k" in keys:
            deviations = groups.std().unstack().reindex(index=text.index, columns=text.columns).astype(object)
            text += deviations.map(lambda value: "" if value != value else f" ± {show(value)}")
        named = {key: TRAINED.get(value, value) for key, value in keys.items()}
        return text.rename_axis("corpus").reset_index().assign(**named)

    kinds = frame[["variant", "k"]].dropna().drop_duplicates().itertuples(index=False)
    kinds = [(variant, int(k)) for variant, k in kinds]
    tables = {
        "SgTS (table 3)": [
            rows("spearman", "sgts_{}_spearman", measure="spearman"),
            rows("normalized", None, measure="of its ceiling"),
            rows("auroc", None, measure="auroc"),
        ],
        "Few-shot accuracy, % (table 4)": [
            rows("few_shot", f"few_shot_{k}_{{}}", percent, k=k, variant=variant) for variant, k in kinds
        ],
        "Linear probe, accuracy in % (table 5)": [rows("linear_probe", "linear_probe_{}", percent)],
        "Linear probe by the options of runs, accuracy in % (tables 7 to 9)": [ablations(frame, paper, options)],
        "Alignment and uniformity (table 15)": [
            rows(metric, f"{metric}_{{}}", measure=metric) for metric in ("alignment", "uniformity")
        ],
        "SgTS and few-shot accuracy over models": [correlations(frame, kinds)],
    }
    samples = "\n".join(f"- {corpus}." for corpus in corpora.values())
    parts = [f"Paper: {paper.setup}. Its figures stand beside corpora of the same name.", samples]
    for title, pieces in tables.items():
        if len(table := pd.concat(pieces)):
            first = [name for name in ("corpus", "measure", "k", "variant") if name in table]
            table = table[[*first, *(name for name in table if name not in first)]]
            table = table.rename(columns={"k": "per class", "variant": "trained"})
            parts.append(f"### {title}\n\n{markdown(table)}")
    note = "The paper's few-shot figures are of encoders trained too (--fine-tune)."
    if fine_tuning:
        note = (
            f"`encoder too`, as in the paper: learning rate {fine_tuning['learning_rate']:g}, at most "
            f"{fine_tuning['max_test']:,} test texts."
        )
    legend = (
        "SgTS: Spearman correlation of cosine and equal polarity, whose ceiling is about .87; auroc: 0.5 is chance. "
        f"Few-shot: mean and standard deviation of {seeds} draws. `classifier`: a logistic regression on frozen "
        f"embeddings, all test texts. {note} Alignment: mean squared distance of two test texts of one class; "
        "uniformity: log of the mean of exp(-2 d²) over all pairs; the lower, the closer together and the more evenly "
        "spread. The paper does not say which pairs its alignment is of. Correlations need three models; the paper's "
        "are .7 (Pearson) and .96 (Spearman, figure 7)."
    )
    return "\n\n".join([*parts, legend])


def percent(value: float) -> str:
    """A share as the paper prints it."""
    return f"{100 * value:.2f}"


def paper_corpus(name: str) -> str | None:
    """The paper's corpus that a source is named after, such as `sst2` for data/sst2."""
    return next((each for each in CORPORA if re.search(rf"(?<![a-z0-9]){each}(?![a-z0-9])", name.lower())), None)


def ablations(frame: pd.DataFrame, paper: Any, options: Mapping[str, Mapping[str, Any] | None]) -> pd.DataFrame:
    """Linear probes of runs with options whose figures the paper prints."""
    import pandas as pd

    rows = []
    for row in frame[frame["metric"] == "linear_probe"].itertuples():
        if mine := options[row.model]:
            figure = paper.printed(mine).get(f"linear_probe_{paper_corpus(row.data)}", {})
            if figure.get("trained") is not None:
                settings = ", ".join(f"{key} {mine[key]}" for key in paper.headline)
                both = f"{percent(figure['trained'])} / {percent(row.value)}"
                rows.append((row.data, row.model, settings, figure["table"], both))
    return pd.DataFrame(rows, columns=["corpus", "model", "options", "printed in", "paper / ours"])


def points(frame: pd.DataFrame, variant: str, k: int) -> pd.DataFrame:
    """SgTS (`x`) and mean few-shot accuracy (`y`), a row per model and corpus."""
    import pandas as pd

    few = frame[(frame["metric"] == "few_shot") & (frame["variant"] == variant) & (frame["k"] == k)]
    both = {"x": frame[frame["metric"] == "spearman"], "y": few}
    columns = {axis: part.groupby(["data", "model"], sort=False)["value"].mean() for axis, part in both.items()}
    rows = few.drop_duplicates(["data", "model"])[["data", "model"]]
    return rows.join(pd.DataFrame(columns), on=["data", "model"])


def correlations(frame: pd.DataFrame, kinds: Sequence[tuple[str, int]]) -> pd.DataFrame:
    """SgTS against few-shot accuracy, a point per model: per corpus, and over the points of all corpora.

    Nothing for fewer than three models, and where either is the same for all.
    """
    import pandas as pd

    rows = []
    for variant, k in kinds:
        every = points(frame, variant, k)
        parts = list(every.groupby("data", sort=False))
        for corpus, part in parts + ([("all", every)] if len(parts) > 1 else []):
            enough = part["model"].nunique() >= LEAST_MODELS and part["x"].nunique() > 1 and part["y"].nunique() > 1
            values = [
                f"{part['x'].corr(part['y'], method):.3f}" if enough else "" for method in ("pearson", "spearman")
            ]
            rows.append((corpus, k, variant, len(part), *values))
    frame = pd.DataFrame(rows, columns=["corpus", "k", "variant", "points", "Pearson", "Spearman"])
    return frame.assign(variant=frame["variant"].map(TRAINED))


def draw_pictures(
    frame: pd.DataFrame,
    encoders: Mapping[str, SentenceTransformer],
    corpora: Mapping[str, Corpus],
    cache: Path,
    folder: Path,
) -> list[str]:
    """Draws the test texts by class on two principal components, and SgTS against few-shot accuracy; as Markdown."""
    import pandas as pd

    from modeling.base.plots import scatter
    from modeling.senticse.probing.probes import principal_components

    pictures = []
    for name, corpus in corpora.items():
        rows: list[pd.DataFrame] = []
        for label, encoder in encoders.items():
            plane = principal_components(*Subject(label, encoder, corpus, cache).vectors("test"))
            shares = " and ".join(f"{share:.0%}" for share in plane["explained"])
            part = pd.DataFrame(plane["points"], columns=["x", "y"])
            classes = [corpus.classes[number] for number in plane["labels"]]
            rows.append(part.assign(label=classes, model=f"{label} ({shares} of the variance)"))
        path = folder / f"components-{re.sub(r'[^A-Za-z0-9_.-]', '-', name)}.png"
        title = f"{name}: test sentences by class, principal components"
        scatter(pd.concat(rows), path, title, "component 1", "component 2", "label")
        pictures.append(f"![{title}](plots/{path.name})")
    if len(encoders) >= LEAST_MODELS:
        kinds = frame[["variant", "k"]].dropna().drop_duplicates().itertuples(index=False)
        parts = [
            points(frame, variant, k).assign(panel=f"{k:g} per class, trained: {TRAINED[variant]}")
            for variant, k in kinds
        ]
        title = "Few-shot accuracy and SgTS"
        scatter(pd.concat(parts), folder / "sgts-few-shot.png", title, "SgTS", "accuracy", "data", "model", "panel")
        pictures.append(f"![{title}](plots/sgts-few-shot.png)")
    return pictures
