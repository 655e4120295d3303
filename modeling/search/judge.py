"""A cross-encoder that reads each hit with its statement: does it agree, oppose it, or leave it open?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from huggingface_hub import constants
from scipy.special import expit, softmax
from sentence_transformers import CrossEncoder
from sklearn.linear_model import LogisticRegression

from modeling.search.coded import Coded
from modeling.search.validation import measure

VERDICTS = ("opposes", "open", "agrees")
LABELS = ("contradiction", "neutral", "entailment")  # of a model of inference, in the order of the verdicts


class Judge:
    """A cross-encoder of inference, whose labels are those of `LABELS`, or one with a single score, high for agreement.

    The source is a folder or a Hub id; a ValueError if it cannot be loaded, or has no such head.
    """

    def __init__(self, source: str | Path) -> None:
        try:
            self.model = CrossEncoder(str(source), local_files_only=constants.HF_HUB_OFFLINE)
        except (OSError, ValueError) as error:
            raise ValueError(
                f"--judge {str(source)!r} could not be loaded: {str(error).splitlines()[0][:200]}"
            ) from error
        config = self.model.config
        names = [str(config.id2label[number]).lower() for number in range(config.num_labels)]
        # an encoder without a head gets a random one from the library
        trained = any(name.endswith("ForSequenceClassification") for name in config.architectures or ())
        if not trained or (len(names) != 1 and sorted(names) != sorted(LABELS)):
            found = f"its labels are {', '.join(names)}" if trained else "it has no head for pairs of texts"
            raise ValueError(f"--judge {str(source)!r}: {found}; name a model with one score, or {', '.join(LABELS)}")
        self.order = [names.index(label) for label in LABELS] if len(names) == 3 else None
        self.slope, self.intercept = 1.0, 0.0

    def logits(self, texts: Sequence[str], statements: Sequence[str]) -> np.ndarray:
        """Of `VERDICTS`, shape (n, 3); that of open is -inf where the model has a single score."""
        pairs = list(zip(texts, statements, strict=True))
        found = self.model.predict(pairs, activation_fn=torch.nn.Identity(), show_progress_bar=False).astype(float)
        if self.order is not None:
            return found[:, self.order]
        return np.stack([np.zeros(len(pairs)), np.full(len(pairs), -np.inf), found.ravel()], axis=1)

    def calibrate(self, coded: Coded, statement: str) -> pd.DataFrame:
        """Fits the odds of agreeing against opposing to texts coded as for or against the statement (Platt, 1999).

        How well the odds order these texts, see `validation.measure`, calibration leaves as it is. Regularisation, of
        odds of unit deviation, keeps few texts from being taken for certain.
        """
        logits = self.logits(coded.texts, [statement] * len(coded.texts))
        odds = logits[:, 2] - logits[:, 0]
        scale = odds.std() or 1.0
        fitted = LogisticRegression().fit(odds[:, None] / scale, coded.labels)
        self.slope, self.intercept = float(fitted.coef_[0, 0] / scale), float(fitted.intercept_[0])
        return measure(odds, coded.labels, [set()] * len(odds))

    def __call__(self, texts: Sequence[str], statements: Sequence[str]) -> pd.DataFrame:
        """Each text's `verdict` on its statement, one of `VERDICTS`, and its `probability`; n rows."""
        logits = self.logits(texts, statements)
        undecided = softmax(logits, axis=1)[:, 1]
        agrees = expit(self.slope * (logits[:, 2] - logits[:, 0]) + self.intercept)
        probabilities = np.stack([(1 - undecided) * (1 - agrees), undecided, (1 - undecided) * agrees], axis=1)
        verdicts = np.array(VERDICTS, object)[probabilities.argmax(axis=1)]
        return pd.DataFrame({"verdict": verdicts, "probability": probabilities.max(axis=1)})
