"""Folders and patterns: everything accounted for, nothing waited for, no circle."""

from __future__ import annotations

import os
import pickle
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from visual_search.errors import InputError, UndecodableImageError
from visual_search.images.sources import ImageSource, list_images

Encode = Callable[..., bytes]


def touch(root: Path, *names: str, content: bytes = b"x") -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    return root


def reasons(sources: list[ImageSource]) -> dict[str, str | None]:
    return {source.id: source.reason for source in sources}


def test_a_folder_is_listed_deep_and_sorted_by_code_point(tmp_path: Path) -> None:
    touch(tmp_path, "b.jpg", "a/2.png", "a/10.png", "B.jpg", "a/deep/er/c", "notes.txt", "ä.jpg")
    sources = list_images(tmp_path)
    assert [source.id for source in sources] == [
        "B.jpg",
        "a/10.png",
        "a/2.png",
        "a/deep/er/c",
        "b.jpg",
        "notes.txt",
        "ä.jpg",
    ]
    assert all(source.path == tmp_path / source.id and source.member is None for source in sources)
    assert list_images(str(tmp_path)) == sources


def test_the_working_directory_and_a_trailing_slash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch(tmp_path, "photos/a.jpg")
    monkeypatch.chdir(tmp_path)
    assert [source.id for source in list_images(".")] == ["photos/a.jpg"]
    assert [source.id for source in list_images("photos/")] == ["a.jpg"]
    assert [source.path for source in list_images("./photos")] == [Path("photos/a.jpg")]


def test_hidden_and_system_files_are_there_with_their_reason(tmp_path: Path) -> None:
    touch(tmp_path, "a.jpg", ".hidden.jpg", "._a.jpg", "Thumbs.db", "sub/.DS_Store", ".git/config", ".git/x/y")
    touch(tmp_path, "__MACOSX/._a.jpg", "sub/desktop.ini", "@eaDir/a.jpg")
    assert reasons(list_images(tmp_path)) == {
        "a.jpg": None,
        ".hidden.jpg": "hidden",
        "._a.jpg": "a system's side file",
        "Thumbs.db": "a system's side file",
        "sub/.DS_Store": "hidden",
        "sub/desktop.ini": "a system's side file",
        ".git/": "a folder that is hidden",
        "__MACOSX/": "a folder that is a system's side file",
        "@eaDir/": "a folder that is a system's side file",
    }


def test_a_source_with_a_reason_raises_it_when_read(tmp_path: Path) -> None:
    touch(tmp_path, ".hidden.jpg", "a.jpg")
    hidden, plain = list_images(tmp_path)
    with pytest.raises(UndecodableImageError, match=r"^hidden$"):
        hidden.read()
    assert plain.read() == b"x"


def test_links_are_followed_to_files_and_not_to_folders(tmp_path: Path) -> None:
    touch(tmp_path, "real/a.jpg")
    (tmp_path / "link.jpg").symlink_to("real/a.jpg")
    (tmp_path / "dead.jpg").symlink_to("nowhere.jpg")
    (tmp_path / "circle").symlink_to(".")
    (tmp_path / "real" / "up").symlink_to("..")
    (tmp_path / "itself.jpg").symlink_to("itself.jpg")
    found = reasons(list_images(tmp_path))
    assert found["real/a.jpg"] is None
    assert found["link.jpg"] is None
    assert found["circle"] == found["real/up"] == "a link to a folder, not followed"
    assert found["dead.jpg"] == "a link to nothing that can be read"
    assert found["itself.jpg"] is not None
    assert len(found) == 6
    linked = next(source for source in list_images(tmp_path) if source.id == "link.jpg")
    assert linked.read() == b"x"


def test_a_folder_that_is_itself_a_link_is_entered(tmp_path: Path) -> None:
    touch(tmp_path, "real/a.jpg")
    (tmp_path / "photos").symlink_to("real")
    assert [source.id for source in list_images(tmp_path / "photos")] == ["a.jpg"]


def test_pipes_sockets_and_devices_are_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jpg")
    (tmp_path / "device.jpg").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s.jpg"))
        found = reasons(list_images(tmp_path))
    assert found["pipe.jpg"] == found["s.jpg"] == "not a regular file"
    assert found["device.jpg"] == "a link to nothing that can be read"


def test_a_pipe_put_in_a_file_s_place_is_not_waited_for(tmp_path: Path) -> None:
    touch(tmp_path, "a.jpg")
    (source,) = list_images(tmp_path)
    (tmp_path / "a.jpg").unlink()
    os.mkfifo(tmp_path / "a.jpg")
    with pytest.raises(UndecodableImageError, match=r"^not a regular file$"):
        source.read()


def test_a_file_that_goes_away_or_becomes_a_folder(tmp_path: Path) -> None:
    touch(tmp_path, "a.jpg")
    (source,) = list_images(tmp_path)
    (tmp_path / "a.jpg").unlink()
    with pytest.raises(UndecodableImageError, match=r"^no such file$"):
        source.read()
    assert source.stamp == "unreadable"
    (tmp_path / "a.jpg").mkdir()
    with pytest.raises(UndecodableImageError, match=r"^not a regular file$"):
        source.read()


def test_what_may_not_be_read_is_accounted_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Permissions mean nothing to a superuser, so the system's refusal is played.
    touch(tmp_path, "closed/a.jpg", "open/b.jpg")
    scan, open_file = os.scandir, os.open

    def refusing_scan(path: str) -> object:
        if str(path).rstrip("/").endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return scan(path)

    def refusing_open(path: object, flags: int) -> int:
        if str(path).endswith("b.jpg"):
            raise PermissionError(13, "Permission denied")
        return open_file(path, flags)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "scandir", refusing_scan)
    monkeypatch.setattr(os, "open", refusing_open)
    closed, opened = list_images(tmp_path)
    assert (closed.id, closed.reason) == ("closed/", "a folder, not entered: cannot be read: Permission denied")
    with pytest.raises(UndecodableImageError, match=r"^cannot be read: Permission denied$"):
        opened.read()
    assert [source.id for source in list_images(f"{tmp_path}/**/*.jpg")] == ["closed/", "open/b.jpg"]


@pytest.mark.parametrize(
    "name", ["a\nb.jpg", "x y.jpg", "émigré/日本.jpg", "e\u0301.jpg", "a[1].jpg", "ಠ_ಠ", "-rf"]
)
def test_odd_names_survive(name: str, tmp_path: Path) -> None:
    touch(tmp_path, name)
    (source,) = list_images(tmp_path)
    assert source.id == name
    assert pickle.loads(pickle.dumps(source)) == source
    assert source.read() == b"x"


def test_names_that_are_no_text_survive(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff\xfe.jpg")).write_bytes(b"P5 1 1 255 ?")
    (source,) = list_images(tmp_path)
    assert source.id == r"bad\xFF\xFE.jpg"
    assert os.fsencode(source.path.name) == b"bad\xff\xfe.jpg"
    assert pickle.loads(pickle.dumps(source)).read() == b"P5 1 1 255 ?"
    (alone,) = list_images(source.path)
    assert (alone.id, alone.path) == (source.id, source.path)


def test_a_name_that_looks_like_an_escaped_one_keeps_an_id_of_its_own(tmp_path: Path) -> None:
    contents = {os.fsdecode(b"\xe9.png"): b"1", r"\xE9.png": b"2", r"\x5CxE9.png": b"3", r"\d.png": b"4"}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    assert {source.id: source.read() for source in list_images(tmp_path)} == {
        r"\xE9.png": b"1",
        r"\x5CxE9.png": b"2",
        r"\x5Cx5CxE9.png": b"3",
        r"\d.png": b"4",
    }
    own = {"one": os.fsdecode(b"\xe9.png"), "two": r"\xE9.png"}
    named = {source.id: source for source in list_images(tmp_path, ids=own)}
    assert named["one"].read() == b"1"
    with pytest.raises(InputError, match="valid Unicode"):
        list_images(tmp_path, ids=lambda name: name + "\udce9")


def test_a_file_longer_than_allowed_is_not_read(tmp_path: Path) -> None:
    touch(tmp_path, "a.jpg", content=b"12345")
    (source,) = list_images(tmp_path)
    assert source.read(5) == b"12345"
    with pytest.raises(UndecodableImageError, match=r"^too many bytes: 5, more than max_bytes=4$"):
        source.read(4)
    with (tmp_path / "a.jpg").open("r+b") as file:
        file.truncate(1 << 40)  # a hole, not a terabyte
    with pytest.raises(UndecodableImageError, match=r"^too many bytes: 1099511627776"):
        source.read(1 << 20)


def test_the_stamp_changes_with_the_file(tmp_path: Path) -> None:
    touch(tmp_path, "a.jpg")
    (source,) = list_images(tmp_path)
    before = source.stamp
    assert source.stamp == before
    os.utime(tmp_path / "a.jpg", ns=(1, 1))
    assert source.stamp == "1@1"
    (tmp_path / "a.jpg").write_bytes(b"xy")
    os.utime(tmp_path / "a.jpg", ns=(1, 1))
    assert source.stamp == "2@1"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.jpg", ["a.jpg", "b.jpg"]),
        ("[a]*.jpg", ["a.jpg"]),
        ("?.png", ["c.png"]),
        ("**/*.jpg", ["a.jpg", "b.jpg", "s/d.jpg", "s/t/e.jpg"]),
        ("s/**/*.jpg", ["d.jpg", "t/e.jpg"]),
        ("*/*.jpg", ["s/d.jpg"]),
        ("s/**", ["d.jpg", "t/e.jpg", "t/f.txt"]),
        (".*.jpg", [".hidden.jpg"]),
        (".dot/*", ["g.jpg"]),
        ("*/.*", ["s/.h"]),
    ],
)
def test_patterns(pattern: str, expected: list[str], tmp_path: Path) -> None:
    touch(
        tmp_path,
        "a.jpg",
        "b.jpg",
        "c.png",
        "s/d.jpg",
        "s/t/e.jpg",
        "s/t/f.txt",
        ".hidden.jpg",
        ".dot/g.jpg",
        "s/.h",
    )
    sources = list_images(f"{tmp_path}/{pattern}")
    assert [source.id for source in sources] == expected
    assert {source.reason for source in sources} == {None}


def test_a_relative_pattern(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch(tmp_path, "photos/a.jpg")
    monkeypatch.chdir(tmp_path)
    assert [source.id for source in list_images("*/*.jpg")] == ["photos/a.jpg"]
    assert [source.id for source in list_images("photos/*")] == ["a.jpg"]


def test_a_pattern_leaves_system_files_out_with_their_reason(tmp_path: Path) -> None:
    touch(tmp_path, "a.jpg", "Thumbs.db")
    os.mkfifo(tmp_path / "pipe")
    assert reasons(list_images(f"{tmp_path}/*")) == {
        "Thumbs.db": "a system's side file",
        "a.jpg": None,
        "pipe": "not a regular file",
    }


def test_a_file_whose_name_looks_like_a_pattern(tmp_path: Path, encode: Encode) -> None:
    path = tmp_path / "a[1]*.png"
    path.write_bytes(encode(Image.new("RGB", (1, 1)), "PNG"))
    assert [source.id for source in list_images(path)] == ["a[1]*.png"]


def test_a_circle_of_links_under_a_pattern_ends(tmp_path: Path) -> None:
    touch(tmp_path, "a.jpg")
    (tmp_path / "circle").symlink_to(".")
    assert [source.id for source in list_images(f"{tmp_path}/**/*.jpg")] == ["a.jpg"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("nowhere", "no such file or folder"),
        ("empty", "no file there"),
        ("*.jpg", "no file there"),
        ("nowhere/*.jpg", "no such file"),
        ("", "give a folder"),
        ("pipe", "neither a folder nor a regular file"),
    ],
)
def test_nothing_there_is_a_clear_error(
    given: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=f"^images='.*{words}"):
        list_images(given)


def test_listing_opens_nothing_and_is_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch(tmp_path, *(f"{n // 50}/{n}.jpg" for n in range(500)))
    touched: list[object] = []
    look = os.stat

    def seen(path: object, *args: object, **options: object) -> object:
        touched.append(path)
        return look(path, *args, **options)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", seen)
        patched.setattr("builtins.open", seen)
        patched.setattr(os, "stat", seen)
        sources = list_images(tmp_path)
    assert len(sources) == 500
    assert touched == [tmp_path]
    assert len(pickle.dumps(sources)) < 500 * 300


def test_a_pattern_of_many_stars_takes_no_longer(tmp_path: Path) -> None:
    touch(tmp_path, "/".join("d" * 40) + "/a.png")
    assert list_images(f"{tmp_path}/" + "**/" * 40 + "*.png")  # every way to share out the levels took centuries
    with pytest.raises(InputError, match="no file there"):
        list_images(f"{tmp_path}/" + "**/" * 40 + "*.jpg")


@pytest.mark.parametrize(
    ("pattern", "ids"),
    [
        ("**/**", ["a.png", "s/b.png", "s/t/c.png"]),
        ("**/t/**", ["s/t/c.png"]),
        ("**/**/t/*.png", ["s/t/c.png"]),
        ("**/s/**/*.png", ["s/b.png", "s/t/c.png"]),
        ("*/**", ["s/b.png", "s/t/c.png"]),
        ("**/c.png/**", []),
        ("**/.h/*.png", [".h/d.png"]),
    ],
)
def test_stars_among_other_parts(pattern: str, ids: list[str], tmp_path: Path) -> None:
    touch(tmp_path, "a.png", "s/b.png", "s/t/c.png", ".h/d.png")
    if ids:
        assert [source.id for source in list_images(f"{tmp_path}/{pattern}")] == ids
    else:
        with pytest.raises(InputError, match="no file there"):
            list_images(f"{tmp_path}/{pattern}")
