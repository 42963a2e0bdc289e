"""A fixture for pytest, which loads this module as a plugin in every session. Only tests with the fixture import netburn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from netburn import Lab


@pytest.fixture
def netburn_lab() -> Iterator[Callable[..., Lab]]:
    """Opens labs, with the arguments of `netburn.lab`. The end of the test closes them.

        def test_a_page_on_bad_wifi(netburn_lab):
            lab = netburn_lab("slow-neighbour", {"ap.home.queue": "fifo"})
            lab["laptop"].run(["curl", "-sf", "http://server/"], check=True)
    """
    from netburn import lab

    with ExitStack() as labs:
        yield lambda *arguments, **options: labs.enter_context(lab(*arguments, **options))
