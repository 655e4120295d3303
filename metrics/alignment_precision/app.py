"""The Space: a table to fill in and the scores for it."""

from functools import partial
from pathlib import Path

import evaluate

# The script beside this file, so that the Space works under any owner's name.
module = evaluate.load(str(Path(__file__).with_name("alignment_precision.py")))
# The widget has no fields for options: it scores a query of group "A" at the lower of the paper's two thresholds.
module.compute = partial(module.compute, target="A", threshold=0.6)
evaluate.utils.launch_gradio_widget(module)
