"""A tiny sentence model in a folder, as exports have them: a table of token vectors, written as ONNX by hand.

Only what the format asks of it: https://onnx.ai/onnx/intro/concepts.html, in the wire format of protocol buffers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

FLOAT, INT64 = 1, 7
VOCABULARY = {"[PAD]": 0, "[UNK]": 1, "kettle": 2, "pot": 3, "fox": 4, "broken": 5, "dimensions": 6}


def number(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def field(tag: int, value: int | bytes | str) -> bytes:
    if isinstance(value, int):
        return number(tag << 3) + number(value)
    raw = value.encode() if isinstance(value, str) else value
    return number(tag << 3 | 2) + number(len(raw)) + raw


def value_info(name: str, kind: int, *dimensions: str | int) -> bytes:
    shape = b"".join(field(1, field(2 if isinstance(each, str) else 1, each)) for each in dimensions)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))


def node(operator: str, inputs: list[str], output: str) -> bytes:
    return b"".join(field(1, each) for each in inputs) + field(2, output) + field(4, operator)


def model(rows: np.ndarray, *, inputs: tuple[str, ...] = ("input_ids", "attention_mask")) -> bytes:
    """A model that looks the vector of each token up, and gives them all."""
    table = b"".join(field(1, int(size)) for size in rows.shape) + field(2, FLOAT)
    table += field(8, "table") + field(9, rows.astype("<f4").tobytes())
    graph = field(1, node("Gather", ["table", inputs[0]], "last_hidden_state")) + field(2, "tiny") + field(5, table)
    graph += b"".join(field(11, value_info(name, INT64, "batch", "tokens")) for name in inputs)
    graph += field(12, value_info("last_hidden_state", FLOAT, "batch", "tokens", int(rows.shape[1])))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13))


def rows() -> np.ndarray:
    """A kettle is nearly a pot; a fox is neither."""
    found = np.zeros((len(VOCABULARY), 4), np.float32)
    found[VOCABULARY["[PAD]"]] = 100  # must count for nothing
    found[VOCABULARY["[UNK]"]] = (0, 0, 0, 0.1)
    found[VOCABULARY["kettle"]] = (1, 0.2, 0, 0)
    found[VOCABULARY["pot"]] = (1, 0, 0, 0)
    found[VOCABULARY["fox"]] = (0, 0, 1, 0)
    found[VOCABULARY["broken"]] = (0, 1, 0, 0)
    found[VOCABULARY["dimensions"]] = (0, 0, 0, 1)
    return found


def write(folder: Path, content: bytes | None = None) -> Path:
    """The folder, with the model and its tokenizer."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    folder.mkdir(exist_ok=True)
    tokenizer = Tokenizer(WordLevel(VOCABULARY, unk_token="[UNK]"))  # noqa: S106 - no secret
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "model.onnx").write_bytes(model(rows()) if content is None else content)
    return folder
