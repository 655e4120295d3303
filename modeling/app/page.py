"""The page's components and server: a tab for each question, over texts that are served or brought."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.components import Component

from modeling.app import answers
from modeling.app.answers import Answers
from modeling.app.models import load_models
from modeling.base.models import labels
from modeling.search.commands import quiet
from modeling.search.index import Index

TABLES = [".csv", ".tsv"]
LIKE = "I love pineapple on pizza."
RENTS = "I support a cap on rents.", "I oppose a cap on rents."
PAIRS = [[LIKE, "I hate pineapple on pizza."], [LIKE, "Pineapple makes every pizza taste better."]]
CSS = """
#status {align-self: center}
.said {white-space: pre-wrap; margin: .4em 0}
.verdict {font-weight: 600; font-size: 1.15em; padding: .4em .8em; border-left: .35em solid; background: #fff}
.figures, img {width: 100%; margin: .8em 0}
.figures :is(td, th) {padding: .35em .7em !important; border: solid #ddd !important; border-width: 0 0 1px !important}
.figures, .figures tr {border: 0 !important}
.figures th {text-align: left; font-weight: normal}
.figures .bar {background: linear-gradient(#f6862f90, #f6862f90) no-repeat; width: 70%}
"""


def serve(
    index: Path | None = None,
    models: Sequence[str] = ("stance-minilm",),
    host: str | None = None,
    port: int | None = None,
    max_upload: str = "20MB",
    max_rows: int = 20_000,
) -> None:
    """Serves the page until it is interrupted; nothing that visitors brought is left then.

    `index` is a folder written by `opinion embed`, whose model is among the models; visitors choose from these, which
    are kept in memory together. Where `host` and `port` are None Gradio's variables say where to listen.
    """
    quiet()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    closed = {"share": False, "enable_monitoring": False, "ssr_mode": False, "pwa": False, "run_history": False}
    looks = {"theme": gr.themes.Default(font="sans-serif"), "css": CSS, "footer_links": [], "quiet": True}
    with tempfile.TemporaryDirectory(prefix="opinion-", ignore_cleanup_errors=True) as folder:
        os.environ["GRADIO_TEMP_DIR"] = f"{folder}/uploads"
        loaded = load_models(models)
        if index and (reason := (opened := Index.open(index))._unlike(loaded[opened.facts["model"]])):
            cure = "embed the texts again, without --lens and --precision"
            raise ValueError(f"{index} cannot be asked by its model as the page has it ({reason}): {cure}")
        page = build(Answers(loaded, models, Path(folder), index, max_rows))
        page.queue(api_open=False, max_size=50)
        where = {"server_name": host, "server_port": port, "prevent_thread_lock": True}
        _, url, _ = page.launch(max_file_size=max_upload, **where, **closed, **looks)
        print(f"{url} answers until it is interrupted", flush=True)
        page.block_thread()


def build(own: Answers) -> gr.Blocks:
    """The components, and what they call."""
    with gr.Blocks(title="What texts hold", analytics_enabled=False, delete_cache=(600, 600)) as page:
        gr.Markdown("# What texts hold")
        with gr.Row():
            status = gr.HTML(elem_id="status")
            first = Index.open(own.served).facts["model"] if own.served else own.choice[0]
            names = [(label, name) for name, label in labels(list(own.choice)).items()]
            model = gr.Dropdown(names, value=first, label="Model", scale=0, min_width=220)
        with gr.Tab("Pair"):
            _pair(own)
        with gr.Tab("Texts"):
            _texts(own, model, status)
        with gr.Tab("Ask"):
            _ask(own)
        with gr.Tab("Axis"):
            _axis(own)
        with gr.Tab("Counter"):
            _counter(own)
        _on(model.input, own.switch, [model], [status])
        _on(page.load, own.status, [], [status])
        page.unload(own.leave)
    return page


def _pair(own: Answers) -> None:
    one, other = gr.Textbox(PAIRS[0][0], label="One sentence"), gr.Textbox(PAIRS[0][1], label="Another")
    gr.Examples(PAIRS, [one, other])
    _on(gr.Button("Compare", variant="primary").click, own.compare, [one, other], [gr.HTML()])


def _texts(own: Answers, model: Component, status: Component) -> None:
    gr.Markdown("A table with a row for each text. It is deleted when this page is closed or loaded again.")
    with gr.Row():
        upload = gr.UploadButton("Bring a CSV or TSV", file_types=TABLES)
        example = gr.Button("Take the example: docs/comments.csv", visible=answers.COMMENTS.is_file())
    with gr.Row():
        text, group = gr.Dropdown(label="Column of the texts"), gr.Dropdown(label="Column of groups to compare")
    button = gr.Button("Embed", variant="primary")
    said = gr.Textbox(label="What became of it", interactive=False, lines=2)
    _on(upload.upload, own.bring, [upload], [text, group, said])
    _on(example.click, own.bring, [], [text, group, said])
    _on(button.click, own.embed, [model, text, group], [said, status], show_progress_on=said)


def _ask(own: Answers) -> None:
    statement = gr.Textbox(label="Statement", placeholder=RENTS[0])
    with gr.Row():
        top = gr.Slider(1, 50, 10, step=1, label="Texts")
        lenses = [("topic and side", "both"), ("side", "side"), ("topic", "topic")]
        lens = gr.Radio(lenses, value="both", label="What counts")
    _on(gr.Button("Ask", variant="primary").click, own.ask, [statement, top, lens], [gr.HTML()])


def _axis(own: Answers) -> None:
    with gr.Row():
        positive = gr.Textbox(label="The side for, a wording a line", lines=2, placeholder=RENTS[0])
        negative = gr.Textbox(label="The side against", lines=2, placeholder=RENTS[1])
    least = gr.Slider(-1, 1, 0.3, step=0.05, label="Least similarity of a text to one of the sides")
    with gr.Accordion("Texts coded by hand, by which the axis is measured", open=False):
        gr.Markdown("A table with the columns text and label, which is for, against or blank.")
        with gr.Row():
            upload = gr.UploadButton("Bring a CSV or TSV", file_types=TABLES)
            example = gr.Button("Take the example: docs/coded.csv", visible=answers.CODED.is_file())
        measure = gr.Checkbox(label="Measure by them", visible=False)
        learn = gr.Checkbox(label="Learn the axis from them, too")
    button = gr.Button("Draw", variant="primary")
    _on(upload.upload, own.bring_coded, [upload], [measure])
    _on(example.click, own.bring_coded, [], [measure])
    _on(button.click, own.axis, [positive, negative, least, measure, learn], [gr.HTML(elem_id="drawn")])


def _counter(own: Answers) -> None:
    argument = gr.Textbox(label="Argument", lines=2)
    with gr.Row():
        top = gr.Slider(1, 50, 10, step=1, label="Texts")
        where = "1.5 where all texts are on one statement"
        weight = gr.Slider(0, 3, 0.3, step=0.1, label="Weight of the other side", info=where)
    _on(gr.Button("Find counter-arguments", variant="primary").click, own.counter, [argument, top, weight], [gr.HTML()])


def _on(event: Any, *call: Any, **options: Any) -> None:
    """Calls an answer, with its inputs and outputs, from the page; clients of Gradio's cannot."""
    event(*call, api_visibility="private", **options)
