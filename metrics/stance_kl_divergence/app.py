"""The Space: a table to fill in and the scores for it."""

from pathlib import Path

import evaluate

# the script beside this file, so that the Space works under any owner's name
evaluate.utils.launch_gradio_widget(evaluate.load(str(Path(__file__).with_name("stance_kl_divergence.py"))))
