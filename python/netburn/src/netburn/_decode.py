"""Speed ratings."""

from __future__ import annotations

from ._runtime import native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def decode(rating: str, client: str = "2x2", *, stations: int = 1, nodes: int = 1) -> dict[str, Any]:
    """Estimates the radios behind a vendor's speed rating, and the rates of a client, as `netburn decode` does.

    `rating`: N, AC, AX or BE and a number, such as "AC1750".
    `client`: antennas of the client (receive x transmit), and its streams if there are fewer: "2x2", "3x3:2".
    `stations`: number of stations that are active at the same time on one radio, 1 to 1000.
    `nodes`: number of access points that the rating covers, 1 to 32.

    Returns the document of `netburn decode --format json`: `best["radios"]` and `chain` have an entry for each radio, with
    rates in Mbit/s.

    Raises ValueError for an unknown rating, or a value that is out of range.
    """
    import json

    document: dict[str, Any] = json.loads(native.decode(rating, client, stations, nodes))
    return document
