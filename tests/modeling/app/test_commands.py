"""The commands of the page: what is cheap to check is said before anything slow is imported, Gradio too."""

import subprocess
import sys

MISTAKES = {
    "serve nowhere": "nowhere is no index",
    "serve --model stance-minlm": "did you mean 'stance-minilm'?",
    "serve --max-upload 20": "--max-upload '20': give a whole number and its unit, e.g. 20MB",
    "serve --host 203.0.113.1": "203.0.113.1:7860 cannot be listened to",
    "publish space nobody --dry-run": "'nobody' has no owner: write owner/name",
    "serve": "the page needs Gradio: pip install 'opinion-transformers[app]'",
}


def test_mistakes(root):
    code = f"""
import sys
from typer.testing import CliRunner
from modeling import cli
for words in {list(MISTAKES)}:
    sys.modules |= dict.fromkeys(["gradio"], None) if words == "serve" else {{}}
    done = CliRunner().invoke(cli.build(), words.split())
    print(done.exit_code, {{"gradio", "torch"}} & {{name for name in sys.modules if sys.modules[name]}}, done.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=60)
    lines = done.stdout.split("\n\n")
    for line, said in zip(lines, MISTAKES.values(), strict=False):
        assert line.startswith("2 set()") and said in line, done.stdout + done.stderr
