"""The commands of the page: what is cheap to check is said before anything slow is imported, Gradio too."""

import subprocess
import sys

import pytest

MISTAKES = {
    "serve nowhere": "nowhere is no index",
    "serve --model stance-minlm": "did you mean 'stance-minilm'?",
    "serve --max-upload 20": "--max-upload '20': give a whole number and its unit, e.g. 20MB",
    "serve --host 203.0.113.1": "203.0.113.1:7860 cannot be listened to",
    "publish space nobody --dry-run": "'nobody' has no owner: write owner/name",
    "serve": "the page needs Gradio: pip install 'opinion-transformers[app]'",
}


@pytest.mark.parametrize(("words", "said"), MISTAKES.items())
def test_mistakes(words, said, root):
    missing = "sys.modules['gradio'] = None; " if words == "serve" else ""
    code = (
        f"import sys; {missing}sys.argv = ['opinion', *{words.split()!r}]\nfrom modeling import cli\n"
        "try:\n    cli.main()\nfinally:\n    print(*sorted({'gradio', 'torch'} & set(sys.modules) - {None}))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and said in done.stderr
    assert done.stdout.split() == ["gradio"] * (words == "serve")
