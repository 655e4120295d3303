"""A masked language model's head for an encoder that was loaded without one."""

from __future__ import annotations

import logging

import torch
import torch.nn.functional as F
from huggingface_hub import constants
from sentence_transformers import SentenceTransformer
from torch import Tensor, nn
from transformers import AutoModelForMaskedLM
from transformers.utils import logging as transformers_logging

from modeling.base.models import Backbone

logger = logging.getLogger(__name__)


class MaskedLanguageHead(nn.Module):
    """Scores of all words of the vocabulary: dense, activation and layer norm, then the encoder's word embeddings.

    The embeddings stay the encoder's: they are no parameter of the head, and follow what training does to them.
    """

    def __init__(
        self, model: SentenceTransformer, dense: nn.Linear, activation: nn.Module, norm: nn.LayerNorm, bias: Tensor
    ) -> None:
        super().__init__()
        self.dense, self.activation, self.norm = dense, activation, norm
        self.bias = nn.Parameter(bias.detach().clone())
        self._embeddings = (model[0].model.get_input_embeddings(),)  # in a tuple: not registered as a part of this one

    def forward(self, hidden: Tensor) -> Tensor:
        """Scores of shape (n, vocabulary) for vectors of shape (n, hidden size)."""
        hidden = self.norm(self.activation(self.dense(hidden)))
        return F.linear(hidden, self._embeddings[0].weight, self.bias)


def load_head(model: SentenceTransformer, backbone: Backbone) -> MaskedLanguageHead:
    """The head that the checkpoint of an encoder has, or a fresh one where it has none (sentence encoders do not).

    Raises:
        ValueError: If heads of this architecture are not known.
    """
    level = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()  # what is missing is logged below
    try:
        whole, report = AutoModelForMaskedLM.from_pretrained(
            backbone.path, output_loading_info=True, local_files_only=constants.HF_HUB_OFFLINE
        )
    except ValueError as error:
        raise ValueError(
            f"{backbone.hub_id} cannot predict masked words ({str(error)[:200]}): use --lambda_w 0"
        ) from error
    finally:
        transformers_logging.set_verbosity(level)
    if hasattr(whole, "cls"):  # BERT
        head = whole.cls.predictions
        parts = (head.transform.dense, head.transform.transform_act_fn, head.transform.LayerNorm)
    elif hasattr(whole, "lm_head") and hasattr(whole.lm_head, "layer_norm"):  # RoBERTa, MPNet
        head = whole.lm_head
        parts = (head.dense, nn.GELU(), head.layer_norm)
    else:
        raise ValueError(f"no head for masked words is known for {whole.config.model_type!r}: use --lambda_w 0")
    outside = [name for name in report["missing_keys"] if not name.startswith(f"{whole.base_model_prefix}.")]
    fresh = any("dense" in name for name in outside)
    logger.info("the head for masked words is %s", "new: the checkpoint has none" if fresh else "the checkpoint's own")
    if whole.config.vocab_size != model[0].model.get_input_embeddings().num_embeddings:
        raise ValueError(f"{backbone.hub_id} has two vocabularies of different size: use --lambda_w 0")
    bias = head.bias if torch.isfinite(head.bias).all() else torch.zeros_like(head.bias)
    return MaskedLanguageHead(model, *parts, bias)
