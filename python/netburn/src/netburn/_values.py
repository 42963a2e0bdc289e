"""Python values as values of scenario keys."""

from __future__ import annotations

import os
from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Union

    Value = Union[str, bool, int, float, os.PathLike[str], Sequence["Value"], Mapping[str, "Value"]]


def text(value: Value) -> str:
    """The text of a value as `--set KEY=VALUE` reads it: TOML, or a text without quotes.

    A str is used unchanged: "airtime", "-62 dBm", '["probe", "download"]'.
    """
    return value if isinstance(value, str) else _toml(value)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, os.PathLike):
        return _quoted(os.fsdecode(value))
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_quoted(str(key))} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    raise TypeError(f"found a value of type {type(value).__name__}, expected str, int, float, bool, list or dict")


def _quoted(value: str) -> str:
    """A basic string of TOML."""
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return '"' + "".join(escapes.get(c) or (c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}") for c in value) + '"'
