"""Where a page may be written: links are followed, what is no plain file is left alone."""

import errno
import os
from pathlib import Path

import pytest

from visual_search.errors import InputError
from visual_search.formats.atomic import write_text
from visual_search.formats.outputs import check_output_file, refuse_overwriting
from visual_search.reports.bundle import check_bundle_place


def test_a_new_name_and_a_file_are_taken_as_they_are(tmp_path: Path) -> None:
    assert check_output_file(tmp_path / "new.html", "out") == tmp_path / "new.html"
    (tmp_path / "old.html").write_text("old", "utf-8")
    assert check_output_file(tmp_path / "old.html", "out") == tmp_path / "old.html"


def test_a_link_stays_a_link_to_what_is_new(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    real = tmp_path / "elsewhere" / "real.html"
    real.write_text("old", "utf-8")
    link = tmp_path / "link.html"
    link.symlink_to(real)
    write_text(check_output_file(link, "out"), "new")
    assert link.is_symlink()
    assert real.read_text("utf-8") == "new"


def test_what_is_no_plain_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    pipe, lost, circle = tmp_path / "pipe", tmp_path / "lost", tmp_path / "circle"
    os.mkfifo(pipe)
    lost.symlink_to(tmp_path / "nowhere" / "file")
    circle.symlink_to(circle)
    for path, words in (
        (pipe, "is a device, pipe or socket"),
        (Path("/dev/null"), "is a device, pipe or socket"),
        (tmp_path, "is a folder"),
        (lost, "is a link that leads to no file"),
        (circle, "is a link that leads to no file"),
    ):
        with pytest.raises(InputError, match=f"--out: .*{words}"):
            check_output_file(path, "--out")
    assert pipe.is_fifo()
    assert lost.is_symlink()


def test_a_file_is_never_named_like_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--out: .*new/ names a folder; give a file"):
        check_output_file(f"{tmp_path}/new/", "--out")
    with pytest.raises(InputError, match=r"--out: .*new/ names a folder; give a file"):
        refuse_overwriting({"--out": f"{tmp_path}/new/"}, [])
    refuse_overwriting({"--out": f"{tmp_path}/new/"}, [], folders=True)


def closed(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Make a folder read-only for whoever runs the tests, root too."""
    really = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != folder and really(path, mode))


@pytest.mark.parametrize("name", ["report.html", "new/folder/report.html"])
def test_a_folder_that_takes_no_file_is_told_before_any_work(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed(monkeypatch, tmp_path)
    words = f"{name} cannot be written, since the folder {tmp_path} is read-only"
    with pytest.raises(InputError, match=words):
        check_output_file(tmp_path / name, "out")
    with pytest.raises(InputError, match=words):
        check_bundle_place(tmp_path / name)
    assert not any(tmp_path.iterdir())


def test_a_file_in_place_of_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("there", "utf-8")
    with pytest.raises(InputError, match="file is no folder"):
        check_output_file(tmp_path / "file" / "report.html", "out")


def test_a_bundle_takes_the_place_of_no_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "ismount", lambda path: Path(path) == tmp_path)
    with pytest.raises(InputError, match="is where a file system begins"):
        check_bundle_place(tmp_path)


@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOSPC])
def test_what_cannot_be_written_is_named_as_it_was_asked_for(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: Path, *_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number), str(self))

    monkeypatch.setattr(Path, "open", fails)
    with pytest.raises(OSError, match="report.html") as found:
        write_text(tmp_path / "report.html", "new")
    assert found.value.filename == str(tmp_path / "report.html")
