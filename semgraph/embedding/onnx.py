"""A model in a folder, run on this machine: `model.onnx` and `tokenizer.json`, as exports of sentence models have them.

The vector of a text is the mean of those of its tokens (Reimers and Gurevych 2019, "Sentence-BERT", section 3), or what
the model gives for the text where it does that itself. Needs the extra `onnx`.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from semgraph.errors import ConfigError, MissingExtraError

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["OnnxEmbedder"]

_TOGETHER: Final = 32  # texts that the model is given at once
_LONGEST: Final = 512  # tokens of a text
_PLACES: Final = ("model.onnx", "onnx/model.onnx")
_INPUTS: Final = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_READ: Final = 1 << 20


class OnnxEmbedder:
    """The model of a folder; its id has the folder's name and a sum of the file, so that another model has another.

    Args:
        folder: where `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json` lie.
        max_tokens: how much of a long text the model is given.

    Raises:
        ConfigError: a file is missing or can't be read, or the model takes or gives something else.
        MissingExtraError: onnxruntime or tokenizers is not installed.
    """

    def __init__(self, folder: str | os.PathLike[str], *, max_tokens: int = _LONGEST) -> None:
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingExtraError("a model in a folder", "onnx") from None
        place = Path(folder).expanduser()
        model = next((place / name for name in _PLACES if (place / name).is_file()), None)
        tokens = place / "tokenizer.json"
        if model is None or not tokens.is_file():
            raise ConfigError(f"{str(place)!r} is no folder with model.onnx (or onnx/model.onnx) and tokenizer.json")
        try:
            self._tokenizer: Any = Tokenizer.from_file(str(tokens))
            self._session: Any = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
        except Exception as error:  # noqa: BLE001 - of several kinds, none of them documented
            raise ConfigError(f"the model in {str(place)!r} can't be read: {_first_line(error)}") from None
        self._tokenizer.enable_truncation(max_tokens)
        self._tokenizer.enable_padding()
        self._inputs = [each.name for each in self._session.get_inputs()]
        if "input_ids" not in self._inputs or not _INPUTS.issuperset(self._inputs):
            raise ConfigError(f"the model in {str(place)!r} takes {', '.join(self._inputs)}, not the tokens of a text")
        self.id = f"onnx:{place.resolve().name}:{_sum_of(model)}"
        self.dim = self.encode(["dimensions"]).shape[1]

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """A row for each text; ConfigError where the model gives no vectors."""
        parts = [self._together(texts[start : start + _TOGETHER]) for start in range(0, len(texts), _TOGETHER)]
        return np.concatenate(parts) if parts else np.zeros((0, self.dim), np.float32)

    def _together(self, texts: Sequence[str]) -> NDArray[np.float32]:
        encoded = self._tokenizer.encode_batch(list(texts))
        mask = np.array([each.attention_mask for each in encoded], np.int64)
        given = {
            "input_ids": np.array([each.ids for each in encoded], np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        try:
            found = np.asarray(self._session.run(None, {name: given[name] for name in self._inputs})[0], np.float32)
        except Exception as error:  # noqa: BLE001 - as above
            raise ConfigError(f"the model {self.id!r} failed: {_first_line(error)}") from None
        if found.ndim == 3 and found.shape[:2] == mask.shape:
            weight = mask[:, :, None].astype(np.float32)
            found = (found * weight).sum(axis=1) / np.maximum(weight.sum(axis=1), 1)
        if found.ndim != 2 or len(found) != len(texts):
            raise ConfigError(f"the model gave an array of shape {found.shape} for {len(texts)} texts, and no vectors")
        return found

    def __repr__(self) -> str:
        return f"<OnnxEmbedder {self.id} dim={self.dim}>"


def _sum_of(path: Path) -> str:
    found = hashlib.blake2b(digest_size=6)
    with path.open("rb") as file:
        while part := file.read(_READ):
            found.update(part)
    return found.hexdigest()


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
