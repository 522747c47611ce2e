"""A journal keeps what was finished, whatever cut it off."""

from pathlib import Path

import pytest

from visual_search.errors import InputError
from visual_search.formats.journal import Journal


def filled(path: Path) -> list[tuple[int, bytes]]:
    wanted = [(number, bytes([number]) * (number * 7)) for number in range(6)]
    with Journal(path, key="k") as journal:
        for number, payload in wanted:
            journal.append({"number": number}, payload)
    return wanted


def held(path: Path, key: str = "k") -> list[tuple[int, bytes]]:
    with Journal(path, key=key) as journal:
        return [(record["number"], payload) for record, payload in journal.records()]


def test_records_come_back_in_order(tmp_path: Path) -> None:
    assert filled(tmp_path / "j") == held(tmp_path / "j")


def test_cut_anywhere_the_finished_records_stay_and_writing_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "j"
    wanted = filled(path)
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        found = held(path)
        assert found == wanted[: len(found)]
        with Journal(path, key="k") as journal:
            journal.append({"number": 99}, b"more")
        assert held(path) == [*found, (99, b"more")]
    assert len(found) == len(wanted) - 1, "only the record that was cut is lost"


@pytest.mark.parametrize("place", [-1, -30, -60])
def test_a_flipped_bit_ends_the_journal_there(tmp_path: Path, place: int) -> None:
    path = tmp_path / "j"
    wanted = filled(path)
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(bytes(data))
    found = held(path)
    assert found == wanted[: len(found)]
    assert len(found) < len(wanted)


def test_another_key_begins_anew(tmp_path: Path) -> None:
    filled(tmp_path / "j")
    assert held(tmp_path / "j", key="other") == []


def test_discard_removes_it(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j", key="k")
    journal.append({"number": 1})
    journal.discard()
    assert not (tmp_path / "j").exists()


def test_zeros_at_the_end_as_a_power_cut_leaves_them_are_no_records(tmp_path: Path) -> None:
    path = tmp_path / "j"
    wanted = filled(path)
    path.write_bytes(path.read_bytes() + bytes(480))
    assert held(path) == wanted


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    with Journal(tmp_path / "j", key="k"), pytest.raises(InputError, match="another run"):
        Journal(tmp_path / "j", key="k")
    Journal(tmp_path / "j", key="k").close()


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("precious")
    (tmp_path / "j").symlink_to(tmp_path / "precious.txt")
    with pytest.raises(InputError, match="a link"):
        Journal(tmp_path / "j", key="k")
    assert (tmp_path / "precious.txt").read_text() == "precious"
