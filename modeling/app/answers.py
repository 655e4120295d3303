"""What the page answers its visitors.

Texts of strangers are shown as they are, never as Markdown or HTML of theirs. What is drawn or offered for download
stands in the page itself, so that the server keeps no file of it.
"""

from __future__ import annotations

import base64
import html
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import gradio as gr
import pandas as pd
from sentence_transformers import SentenceTransformer

from dataset_scripts.base.tables import write_table
from modeling.app.visitors import Visitor
from modeling.base.models import labels
from modeling.bipolar.search import CounterIndex
from modeling.search import coded, duplicates
from modeling.search.commands import shown
from modeling.search.index import Index
from modeling.search.plots import plot_axis
from modeling.search.texts import open_source

DOCS = Path(__file__).parents[2] / "docs"  # of a clone or a Space; a wheel has none
COMMENTS, CODED = DOCS / "comments.csv", DOCS / "coded.csv"
NO_GROUPS = "(none)"
NO_TEXTS = "there are no texts yet: bring a CSV, or take the example, in the tab Texts"
TRACKED = gr.Progress(track_tqdm=True)  # as a default: a call gets a bar of its own
COLOURS = {True: "#117733", False: "#b3001b", None: "#8a5a00"}  # of an axis to use, not to use, not measured


def answer(method: Callable[..., Any]) -> Callable[..., Any]:
    """Says what is wrong as the command line does, with no path of the server."""

    @wraps(method)
    def answered(self: Answers, *inputs: Any, **options: Any) -> Any:
        try:
            return method(self, *inputs, **options)
        except (ValueError, OSError) as error:
            said = re.sub(rf"{re.escape(str(self.folder))}/(?:[^/\s]+/)*", "", str(error))
            said = said.replace(f"{self.served.parent}/", "") if self.served else said
            raise gr.Error(html.escape(said), duration=None, print_exception=False) from None

    return answered


class Answers:
    """Answers any number of visitors at once, each from texts of their own, by encoders from `load_models`.

    `choice` are those that a visitor may choose; the others are what these are compared with. `folder` is where
    visitors' texts are while they stay, `served` that of an index that every visitor may ask.
    """

    def __init__(
        self,
        models: Mapping[str, SentenceTransformer],
        choice: Sequence[str],
        folder: Path,
        served: Path | None,
        max_rows: int,
    ) -> None:
        self.models, self.choice, self.folder, self.max_rows = models, choice, folder, max_rows
        self.served = served and served.expanduser().resolve()
        self.visitors: dict[str, Visitor] = {}

    def visitor(self, request: gr.Request) -> Visitor:
        """Who asks: a tab of a browser, until it is closed or loaded again."""
        key = str(request.session_hash)  # as the browser says, so that it names no folder
        if key not in self.visitors:
            self.visitors[key] = Visitor(Path(tempfile.mkdtemp(dir=self.folder)), self.served)
        return self.visitors[key]

    def leave(self, request: gr.Request) -> None:
        """Forgets a visitor."""
        if visitor := self.visitors.pop(str(request.session_hash), None):
            visitor.leave()

    def index(self, request: gr.Request, kind: type[Index] = Index, lens: Any = None) -> Index:
        """The index that a visitor asks."""
        if (folder := self.visitor(request).index) is None:
            raise ValueError(NO_TEXTS)
        return kind.open(folder, self.models[Index.open(folder).facts["model"]], lens)

    def status(self, request: gr.Request) -> str:
        """Which texts are asked, and by which model."""
        if (visitor := self.visitor(request)).index is None:
            return _said("No texts yet: bring a CSV, or take the example, in the tab Texts.")
        index = Index.open(visitor.index)
        groups = ", ".join(f"{group} {rows:,}" for group, rows in index.groups.items())
        model = Path(index.facts["model"]).name
        return _said(f"{visitor.name}: {len(index):,} texts, by {model}{'; rows: ' if groups else ''}{groups}")

    @answer
    def compare(self, one: str, other: str) -> str:
        """Cosines of two sentences by every model."""
        if not (one.strip() and other.strip()):
            raise ValueError("a pair needs two sentences: write both")
        rows = []
        for label, (name, model) in zip(labels(list(self.models)).values(), self.models.items(), strict=True):
            vectors = model.encode([one, other], normalize_embeddings=True, show_progress_bar=False)
            d = vectors.shape[1] // getattr(model, "lenses", 1)  # of two lenses, the model itself comes first
            label = label if name in self.choice else f"{label}, untrained"
            rows.append({"model": label, "cosine": float(vectors[0, :d] @ vectors[1, :d])})
        return _table(pd.DataFrame(rows), bars="cosine")

    @answer
    def bring(self, request: gr.Request, upload: str | None = None) -> tuple[Any, ...]:
        """Takes a table, or the comments on rents, and asks for its columns."""
        visitor = self.visitor(request)
        path = visitor.bring(upload or COMMENTS, uploaded=bool(upload))
        names = open_source(path).columns
        visitor.texts = path
        text, group = next((name for name in names if name.lower() == "text"), None), NO_GROUPS
        if upload is None:
            text, group = "comment", "camp"
        said = f"{path.name} has the columns {', '.join(names)}: choose, and embed"
        return gr.Dropdown(names, value=text), gr.Dropdown([NO_GROUPS, *names], value=group), said

    @answer
    def embed(self, request: gr.Request, name: str, text: str, group: str, progress: Any = TRACKED) -> tuple[str, str]:
        """Embeds what was brought; says what became of its rows."""
        visitor = self.visitor(request)
        if visitor.texts is None:
            raise ValueError(NO_TEXTS)
        if text is None:
            raise ValueError("which column holds the texts? Choose it")
        progress(0, "embedding")
        source = visitor.texts, text, None if group == NO_GROUPS else group
        return visitor.embed(self.models[name], name, self.max_rows, source), self.status(request)

    @answer
    def switch(self, request: gr.Request, name: str, progress: Any = TRACKED) -> str:
        """Goes on with another model."""
        if (visitor := self.visitor(request)).index:
            progress(0, "embedding")
            visitor.embed(self.models[name], name, self.max_rows)
        return self.status(request)

    @answer
    def ask(self, statement: str, top: float, lens: str, request: gr.Request) -> str:
        """The texts that are most similar to a statement, near-identical ones as one."""
        index = self.index(request, lens=None if lens == "both" else lens)  # one of one lens has no other
        hits = duplicates.ask(index, [statement], int(top))
        return _table(shown(hits, index.groups).drop(columns="statement")) + self._download(hits, "hits.csv")

    @answer
    def bring_coded(self, request: gr.Request, upload: str | None = None) -> Any:
        """Takes texts coded by hand, or those on rents."""
        visitor = self.visitor(request)
        visitor.coded = visitor.bring(upload or CODED, uploaded=bool(upload))
        return gr.Checkbox(True, label=f"Measure by {visitor.coded.name}", visible=True)

    @answer
    def axis(self, positive: str, negative: str, least: float, measure: bool, learn: bool, request: gr.Request) -> str:
        """Texts and groups between two opposite sides, and whether that may be trusted."""
        index, visitor = self.index(request), self.visitor(request)
        texts = coded.read_coded(index, visitor.coded) if measure and visitor.coded else None
        sides = [[line.strip() for line in side.splitlines() if line.strip()] for side in (positive, negative)]
        result = index.axis(*sides, least, texts, learn)
        facts, colour = result.facts, COLOURS[result.usable if texts else None]
        rows = f"{facts['kept']:,} of {facts['rows']:,} rows; cosine between the sides {facts['side_cosine']:.2f}"
        said = _said("\n".join(filter(None, [rows, result.separation, *result.warnings])))
        verdict = f'<div class="verdict" style="color: {colour}">{html.escape(result.verdict)}</div>'
        with tempfile.TemporaryDirectory(dir=self.folder) as work:
            plot_axis(result, path := Path(work) / "axis.png", f"{visitor.name}, {Path(index.facts['model']).name}")
            picture = f'<img alt="Where the texts lie" src="data:image/png;base64,{_base64(path)}">'
        ends = result.texts.drop_duplicates("text").sort_values("score", ascending=False, kind="stable")
        ends = pd.concat([ends[:5], ends[5:][-5:]])[["score", "relevance", "group", "text"]]
        tables = f"{_table(result.groups)}{_table(ends)}"
        return f"{verdict}{said}{picture}{tables}{self._download(result.texts, 'axis.csv')}"

    @answer
    def counter(self, argument: str, top: float, weight: float, request: gr.Request) -> str:
        """The best counter-arguments to an argument."""
        index = self.index(request, CounterIndex)
        index.side = -weight
        hits = index.ask(argument, int(top))
        columns = ["rank", *(["score"] if index.ranker else []), "similarity", "rows", "text"]
        return _table(hits[columns]) + _said(index.meaning) + self._download(hits, "counters.csv")

    def _download(self, frame: pd.DataFrame, name: str) -> str:
        """A link that holds a table."""
        with tempfile.TemporaryDirectory(dir=self.folder) as work:
            write_table(frame, path := Path(work) / name)
            return f'<a download="{name}" href="data:text/csv;base64,{_base64(path)}">{name}</a>'


def _table(frame: pd.DataFrame, bars: str | None = None) -> str:
    """A table; measures have three decimals, those of one column a bar of their length."""
    rows = []
    for row in frame.astype(object).itertuples(index=False):
        cells = []
        for name, value in zip(frame.columns, row, strict=True):
            text = "" if value != value or value is None else f"{value:.3f}" if isinstance(value, float) else f"{value}"
            bar = f' style="background-size: {max(100 * value, 0):.1f}% 100%" class="bar"' if name == bars else ""
            cells.append(f"<td{bar}>{html.escape(text)}</td>")
        rows.append("".join(cells))
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in frame.columns)
    return f'<table class="figures"><tr>{head}</tr><tr>{"</tr><tr>".join(rows)}</tr></table>'


def _said(text: str) -> str:
    return f'<div class="said">{html.escape(text)}</div>'


def _base64(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
