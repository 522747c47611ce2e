"""A write for which there is no room says of which file."""

import errno
from pathlib import Path

import pytest

from visual_search.formats.atomic import atomic_write


def test_no_room_names_the_file(tmp_path: Path) -> None:
    place = tmp_path / "t.npz"
    with pytest.raises(OSError, match="No space left") as found, atomic_write(place):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert found.value.filename == str(place)
    assert list(tmp_path.iterdir()) == []
