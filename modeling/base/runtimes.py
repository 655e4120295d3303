"""An encoder's transformer in ONNX Runtime or OpenVINO: exported, proved against torch, measured, and loaded.

Files lie where sentence-transformers, Optimum and transformers.js look for them. Tokenizer, pooling and everything else
stay sentence-transformers'.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from jinja2 import Template
from scipy.stats import spearmanr
from sentence_transformers import SentenceTransformer
from sklearn.metrics import roc_auc_score
from torch import Tensor, nn
from transformers.modeling_outputs import BaseModelOutput

from dataset_scripts.base.files import atomic_folder, write_text
from dataset_scripts.base.sources import DEMO, load_split, source_name
from dataset_scripts.base.tables import markdown
from modeling.base.adapters import PROBES, load_merged
from modeling.base.names import FILES, RELEASED

# neither library is to tell its maker who computes what, which both do unless they are kept from it
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
sys.modules.setdefault("openvino_telemetry", None)

logger = logging.getLogger(__name__)
Compute = Callable[[Mapping[str, np.ndarray]], np.ndarray]

# the same bytes by the names that are asked for on Arm, and by transformers.js as its dtype "q8"
COPIES = ("onnx/model_qint8_arm64.onnx", "onnx/model_quantized.onnx")
INPUTS, OUTPUT = ("input_ids", "attention_mask", "token_type_ids"), "last_hidden_state"
LEAST = {"fp32": 0.9999, "bf16": 0.999, "int8": 0.9}  # cosine with torch of each text of the proof
LOSS = 0.005  # of a measure by int8, at most
# what is measured on: a column beside two of texts; on the demonstration's where the folder is not here
TESTS = {"AUROC": ("data/kialo", "pairs", "label"), "Spearman": ("data/stsb", "similarity", "score")}
ROWS = 500  # of each, at most
CACHE = Path("~/.cache/opinion-transformers").expanduser()
HEADING = "## In other runtimes\n"


class Runtime(nn.Module):
    """What another runtime computes from one of `FILES` in the place of transformers' model, without gradients."""

    def __init__(self, file: Path, precision: str, config: Any) -> None:
        super().__init__()
        self.config = config
        self.inputs, self.compute = _openvino(file, precision) if file.suffix == ".xml" else _onnx(file)
        weights = file.with_suffix(".bin") if file.suffix == ".xml" else file
        digest = hashlib.sha256(f"{file.suffix} {precision}".encode() + weights.read_bytes()).digest()
        # tells it from other models, as weights do
        self.register_buffer("digest", torch.frombuffer(bytearray(digest), dtype=torch.uint8))

    def forward(self, input_ids: Tensor, **features: Any) -> BaseModelOutput:
        given = {"token_type_ids": torch.zeros_like(input_ids)} | features | {"input_ids": input_ids}
        hidden = self.compute({name: given[name].cpu().numpy() for name in self.inputs})
        return BaseModelOutput(last_hidden_state=torch.from_numpy(hidden))


def _onnx(file: Path) -> tuple[list[str], Compute]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    return [each.name for each in session.get_inputs()], lambda given: session.run([OUTPUT], given)[0]


def _openvino(file: Path, precision: str) -> tuple[list[str], Compute]:
    import openvino

    # left to itself it takes bf16 where the processor has it
    hints = {"INFERENCE_PRECISION_HINT": {"fp32": "f32"}.get(precision, precision), "PERFORMANCE_HINT": "LATENCY"}
    model = openvino.Core().compile_model(str(file), "CPU", {**hints, "INFERENCE_NUM_THREADS": torch.get_num_threads()})

    def compute(given: Mapping[str, np.ndarray]) -> np.ndarray:
        return model.create_infer_request().infer(given)[OUTPUT]  # one of its own, as several threads may ask at once

    return [each.get_any_name() for each in model.inputs], compute


def load(
    model: SentenceTransformer, backend: str, precision: str, cache: Path, files: Path | None = None
) -> SentenceTransformer:
    """Puts a runtime into an encoder, in place: from `files` that came with it if they serve, else exported once.

    `cache` is the folder of what was exported of this very encoder. A ValueError if the export does not agree with
    torch, or int8 loses too much.
    """
    name = FILES[backend, precision]
    if files and (files / name).is_file():
        try:
            return replaced(model, files / name, precision)
        except ValueError as error:
            logger.warning("%s; it is exported again", error)
    folder = cache / Path(name).stem
    if not (folder / name).is_file():
        logger.warning("exporting to %s in %s, once: some minutes on a small machine", backend, precision)
        with atomic_folder(folder) as fresh:
            export(model, fresh, [(backend, precision)])
            if not (fresh / name).is_file():
                raise ValueError(f"{precision} loses more than {LOSS} of a measure of this model: use fp32")
            if name != FILES["onnx", "fp32"]:  # of which it was made
                (fresh / FILES["onnx", "fp32"]).unlink()
    return replaced(model, folder / name, precision)


def replaced(model: SentenceTransformer, file: Path, precision: str) -> SentenceTransformer:
    """The encoder with a runtime in it, in place; ValueError if it does not give the vectors that torch gives."""
    encoder, words = model[0].model, " ".join(PROBES * 40).split()
    texts = [" ".join(words[:count]) for count in (1, 6, 40, 512)]
    options = {"normalize_embeddings": True, "show_progress_bar": False}
    expected = model.encode(texts, **options)
    try:
        model[0].model = Runtime(file, precision, encoder.config)
    except Exception as error:  # each library has its own
        raise ValueError(f"{file} is damaged: {str(error).splitlines()[0][:200]}") from error
    cosines = [(model.encode(texts, batch_size=size, **options) * expected).sum(axis=1).min() for size in (1, 4)]
    if not min(cosines) >= LEAST[precision]:  # NaN is no less
        model[0].model = encoder
        cure = "; processors without VNNI compute int8 otherwise: use fp32" if precision == "int8" else ""
        raise ValueError(f"{file}: a vector's cosine with that of torch is {min(cosines):.4f}{cure}")
    return model


def export(model: SentenceTransformer, folder: Path, kinds: Collection[tuple[str, str]] = FILES) -> pd.DataFrame:
    """Writes files of `FILES`, each proved to agree with torch; of int8 only what loses little.

    In int8 each column of weights has a scale of its own, and so has what a matrix is multiplied with. Where a measure
    falls by more than .005, the matrices that narrow a layer, whose inputs spread most, stay in fp32; where it still
    does, there is no such file. A ValueError if another file does not give the vectors of torch.

    Returns a row for torch and for each of `kinds`: `runtime`, `precision`, `file`, `MB`; where int8 is among them also
    `cosine` (mean, with the vector of torch), `AUROC` of agreeing above opposing pairs, and `Spearman`, the rank
    correlation of cosines with judged similarity. Whatever the kinds, `onnx/model.onnx` is written.
    """
    encoder, graph = model[0].model, folder / FILES["onnx", "fp32"]
    _write_graph(model, graph)
    tests = load_tests() if ("onnx", "int8") in kinds else {}
    expected, figures = _measure(model, tests) if tests else (None, {})
    size = sum(tensor.nbytes for tensor in model.state_dict().values())
    rows = [{"runtime": "torch", "precision": "fp32", "file": "model.safetensors", "MB": size / 1e6, **figures}]
    for backend, precision in kinds:
        file = folder / FILES[backend, precision]
        for spared in [[], _narrowing(graph)] if precision == "int8" else [[]]:
            if backend == "openvino" and not file.is_file():
                import openvino

                file.parent.mkdir(parents=True, exist_ok=True)
                openvino.save_model(openvino.Core().read_model(str(graph)), str(file), compress_to_fp16=False)
            elif precision == "int8":
                _write_int8(graph, file, spared)
            try:
                replaced(model, file, precision)
                figures = _measure(model, tests, expected)[1] if tests else {}
            except ValueError:
                if precision != "int8":
                    raise
                figures = dict.fromkeys(tests, -np.inf)
            finally:
                model[0].model = encoder
            if precision != "int8" or all(rows[0][name] - figures[name] <= LOSS for name in tests):
                size = sum(part.stat().st_size for part in file.parent.glob(f"{file.stem}.*"))
                row = {"runtime": backend, "precision": precision, "file": FILES[backend, precision], "MB": size / 1e6}
                rows.append(row | figures)
                break
        else:
            file.unlink()
            logger.warning("left out: in int8 a measure falls by more than %s: %s to %s", LOSS, rows[0], figures)
    return pd.DataFrame(rows)


def _write_graph(model: SentenceTransformer, file: Path) -> None:
    """The transformer as ONNX of fp32, with texts and tokens of any number."""
    encoder = model[0].model
    example = model.tokenizer(["One text.", "Another text, which is longer."], padding=True, return_tensors="pt")
    inputs = [name for name in INPUTS if name in example]

    class Hidden(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = encoder

        def forward(self, *features: Tensor) -> Tensor:
            return self.encoder(**dict(zip(inputs, features, strict=True))).last_hidden_state

    axes = {name: {0: "batch_size", 1: "sequence_length"} for name in [*inputs, OUTPUT]}
    attention = encoder.config._attn_implementation
    encoder.set_attn_implementation("eager")  # of the others every head is searched for NaN in the graph
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        with _quietly(), torch.inference_mode():
            # the newer exporter (dynamo) takes ten times as long, and its graph is no faster
            torch.onnx.export(
                Hidden().eval(),
                tuple(example[name] for name in inputs),
                str(file),
                dynamo=False,
                opset_version=17,
                input_names=inputs,
                output_names=[OUTPUT],
                dynamic_axes=axes,
            )
    finally:
        encoder.set_attn_implementation(attention)


def _write_int8(graph: Path, file: Path, spared: list[str]) -> None:
    folders = sys.path.copy()
    from onnxruntime.quantization import QuantType, quantize_dynamic

    sys.path[:] = folders  # without a folder of the library's own, whose metrics.py would hide our metrics/
    with _quietly():
        quantize_dynamic(
            graph, file, ["MatMul", "Gather"], per_channel=True, weight_type=QuantType.QInt8, nodes_to_exclude=spared
        )


def _narrowing(graph: Path) -> list[str]:
    """Multiplications with a matrix of more rows than columns."""
    import onnx

    content = onnx.load(graph, load_external_data=False).graph
    shapes = {each.name: each.dims for each in content.initializer if len(each.dims) == 2}
    narrow = {name for name, (rows, columns) in shapes.items() if rows > columns}
    return [node.name for node in content.node if node.op_type == "MatMul" and node.input[1] in narrow]


def load_tests() -> dict[str, tuple[list[str], list[str], list[float]]]:
    """Measure -> two columns of texts and what is said of them, of the data of `TESTS`."""
    tests = {}
    for name, (folder, config, target) in TESTS.items():
        rows = load_split(folder if Path(folder).is_dir() else DEMO, config, "test", CACHE)
        rows = rows.shuffle(seed=0).select(range(min(ROWS, len(rows))))
        tests[name] = tuple(rows[column][:] for column in ("sentence1", "sentence2", target))
    return tests


def _measure(
    model: SentenceTransformer, tests: Mapping[str, Any], expected: np.ndarray | None = None
) -> tuple[np.ndarray, dict[str, float]]:
    """Unit vectors of the tests' texts, and the measures; the first is their mean cosine with the expected ones."""
    texts = dict.fromkeys(chain.from_iterable((*first, *second) for first, second, _ in tests.values()))
    place = {text: number for number, text in enumerate(texts)}
    vectors = model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
    figures = {"cosine": float(np.einsum("nd,nd->n", vectors, vectors if expected is None else expected).mean())}
    for name, (first, second, target) in tests.items():
        pairs = [vectors[[place[text] for text in column]] for column in (first, second)]
        cosines = np.einsum("nd,nd->n", *pairs)
        value = roc_auc_score(target, cosines) if name == "AUROC" else spearmanr(target, cosines).statistic
        figures[name] = float(value)
    return vectors, figures


@contextmanager
def _quietly() -> Iterator[None]:
    """Without what exporters say of every node."""
    logging.disable(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)


def add_runtimes(folder: Path) -> None:
    """Exports a merged model into its own folder and says so in its card, unless it does already."""
    card = folder / "README.md"
    text = card.read_text(encoding="utf-8")
    if HEADING in text:
        return
    with tempfile.TemporaryDirectory(prefix=".runtimes-", dir=folder.parent) as work:
        model = load_merged(folder)
        table = export(model, Path(work))
        if (int8 := Path(work) / FILES["onnx", "int8"]).is_file():
            for name in COPIES:
                shutil.copyfile(int8, Path(work) / name)
        for part in sorted(Path(work).iterdir()):
            shutil.rmtree(folder / part.name, ignore_errors=True)
            part.replace(folder / part.name)
    data = dict.fromkeys(source_name(name if Path(name).is_dir() else DEMO) for name, _, _ in TESTS.values())
    facts = {
        "table": markdown(table),
        "data": " and ".join(data),
        "mean": model[1].pooling_mode == "mean",
        "length": model.max_seq_length,
    }
    prose = Template((RELEASED / "runtimes.md").read_text(encoding="utf-8")).render(facts, repo_id="{{repo_id}}")
    write_text(card, f"{text.rstrip()}\n\n{HEADING}\n{prose}\n")


def prove(model: SentenceTransformer, folder: Path) -> None:
    """Compares the exported files of a folder with its model; ValueError if one gives other vectors."""
    encoder = model[0].model
    for (_, precision), name in FILES.items():
        if (folder / name).is_file():
            replaced(model, folder / name, precision)
            model[0].model = encoder
