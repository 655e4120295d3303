"""The command line: what is cheap to check is told in one line, before torch or Gradio is imported."""

import json
import os
import subprocess
import sys

from tests.modeling.search.chosen import chosen_index

MISTAKES = {
    "ask index": "there is no statement",
    "ask index for -o hits.xlsx": "-o 'hits.xlsx' has to end in .csv or .parquet",
    "align index for": "'for' has no side: name the group whose view it is with --side",
    "align index for --side G --thresholds high": "--thresholds: could not convert",
    "align index for --side g": "'g' is no group of index; it has G, B",
    "axis index --for for --against against --coded a.csv": "--text-column 'text': no such column; a.csv has the",
    "embed a.csv -o new --text titel": "has the columns title, body; did you mean 'title'?",
    "embed a.csv -o new --text title --model stance-minlm": "did you mean 'stance-minilm'?",
    "embed a.csv -o new --text title --backend openvino --precision int8": "torch in fp32, onnx in fp32, onnx in int8",
    "eval bundled --similarty x": "there is no --similarty; did you mean --similarity?",
    "eval bundled --inference /nowhere/sick": "--inference: there is no folder /nowhere/sick; build it with",
    "eval bundled --pit demo": "--pit is no data of stance, which has --on, --stance, --similarity,",
    "serve nowhere": "nowhere is no index",
    "serve --model stance-minlm": "did you mean 'stance-minilm'?",
    "serve --max-upload 20": "--max-upload '20': give a whole number and its unit, e.g. 20MB",
    "serve --host 203.0.113.1": "203.0.113.1:7860 cannot be listened to",
    "publish space nobody --dry-run": "'nobody' has no owner: write owner/name",
}
WITHOUT_EXTRAS = {
    "serve": "the page needs Gradio: pip install 'opinion-transformers[app]'",
    "embed a.csv -o new --text title --backend onnx": "pip install 'opinion-transformers[runtimes]'",
    "publish model stance-minilm org/x --dry-run": "opinion-transformers[runtimes]', or --without-runtimes",
}
CODE = """
import json, sys
from typer.testing import CliRunner
from modeling import cli
app, said = cli.build(), []
for missing, commands in json.loads(sys.argv[1]):
    sys.modules |= dict.fromkeys(missing)
    for words in commands:
        done = CliRunner().invoke(app, words.split())
        slow = [name for name in ("gradio", "torch") if sys.modules.get(name)]
        said.append([words, done.exit_code, slow, done.stderr])
print(json.dumps(said))
"""


def test_mistakes(tmp_path, root):
    chosen_index(tmp_path / "index")
    (tmp_path / "a.csv").write_text("title,body\nx,y\n")
    commands = [([], list(MISTAKES)), (["gradio", "onnx", "onnxruntime"], list(WITHOUT_EXTRAS))]
    places = {"cwd": tmp_path, "env": os.environ | {"PYTHONPATH": str(root)}}
    words = [sys.executable, "-c", CODE, json.dumps(commands)]
    done = subprocess.run(words, **places, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    expected = MISTAKES | WITHOUT_EXTRAS
    for words, code, slow, said in json.loads(done.stdout):
        assert (code, slow) == (2, []), words
        assert said.startswith("error: ") and said.count("\n") == 1 and expected.pop(words) in said, said
    assert not expected and not (tmp_path / "new").exists()
