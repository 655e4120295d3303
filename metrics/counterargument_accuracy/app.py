"""The Space: a table to fill in and the scores for it."""

from pathlib import Path

import evaluate
from evaluate.utils import launch_gradio_widget

# The script beside this file, so that the Space works under any owner's name.
module = evaluate.load(str(Path(__file__).with_name("counterargument_accuracy.py")))
launch_gradio_widget(module)
