"""Lists, list files and mappings, and what each image is called."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from visual_search.errors import DuplicateIdError, FileFormatError, InputError, UndecodableImageError
from visual_search.images.decoding import decode
from visual_search.images.sources import list_images

Encode = Callable[..., bytes]


@pytest.fixture
def photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encode: Encode) -> Path:
    data = encode(Image.new("RGB", (2, 2)), "PNG")
    for name in ("a.png", "b.png", "sub/c.png"):
        (tmp_path / "photos" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "photos" / name).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "photos"


def listed(path: Path, text: str | bytes) -> list[tuple[str, Path]]:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return [(source.id, source.path) for source in list_images(path)]


def test_paths_keep_their_order_and_are_called_as_written(photos: Path) -> None:
    sources = list_images(["photos/b.png", "./photos/a.png", photos / "sub" / "c.png"])
    assert [source.id for source in sources] == ["photos/b.png", "photos/a.png", (photos / "sub/c.png").as_posix()]
    assert all(decode(source.read()).width == 2 for source in sources)


@pytest.mark.usefixtures("photos")
def test_folders_among_the_paths_are_entered() -> None:
    assert [s.id for s in list_images(["photos", "photos/a.png"][:1])] == [
        "photos/a.png",
        "photos/b.png",
        "photos/sub/c.png",
    ]
    assert [s.id for s in list_images(path for path in ["photos/sub", "photos/a.png"])] == [
        "photos/sub/c.png",
        "photos/a.png",
    ]
    with pytest.raises(DuplicateIdError, match=r"1 id .* first: 'photos/a.png'"):
        list_images(["photos", "photos/a.png"])


def test_one_image_is_itself(photos: Path) -> None:
    (source,) = list_images(photos / "sub" / "c.png")
    assert (source.id, source.path) == ("c.png", photos / "sub" / "c.png")


def test_a_mapping_gives_its_ids(photos: Path) -> None:
    sources = list_images({"second": "photos/b.png", "first": photos / "a.png"})
    assert [(s.id, s.path) for s in sources] == [("second", Path("photos/b.png")), ("first", photos / "a.png")]
    with pytest.raises(InputError, match="has ids of its own"):
        list_images({"x": "photos/a.png"}, ids="stem")


TEXT = "# two photographs\n\nphotos/b.png\r\nphotos/a.png"


@pytest.mark.parametrize(
    ("name", "text", "ids"),
    [
        ("list.txt", TEXT, ["photos/b.png", "photos/a.png"]),
        ("list", "\ufeffphotos/b.png\n# last\nphotos/a.png\n", ["photos/b.png", "photos/a.png"]),
        ("list.csv", "path\nphotos/b.png\nphotos/a.png\n", ["photos/b.png", "photos/a.png"]),
        ("list.csv", "photos/b.png\nphotos/a.png\n", ["photos/b.png", "photos/a.png"]),
        ("list.csv", "id,path\nx,photos/b.png\ny,photos/a.png\n", ["x", "y"]),
        ("list.csv", "label,Path,ID\ncat,photos/b.png,x\n\ndog,photos/a.png,y\n", ["x", "y"]),
        ("list.csv", "x,photos/b.png\ny,photos/a.png\n", ["x", "y"]),
        ("list.tsv", "path\tid\nphotos/b.png\tx\nphotos/a.png\ty\n", ["x", "y"]),
        ("list.csv", 'id,path\n"x, 1",photos/b.png\n"y ""2""",photos/a.png\n', ["x, 1", 'y "2"']),
        ("list.json", '["photos/b.png", "photos/a.png"]', ["photos/b.png", "photos/a.png"]),
        ("list.json", '{"x": "photos/b.png", "y": "photos/a.png"}', ["x", "y"]),
        ("list.json", '[{"id": "x", "path": "photos/b.png"}, {"path": "photos/a.png", "id": "y"}]', ["x", "y"]),
        ("list.json", '[{"path": "photos/b.png"}, "photos/a.png"]', ["photos/b.png", "photos/a.png"]),
        ("list", '  ["photos/b.png", "photos/a.png"]', ["photos/b.png", "photos/a.png"]),
    ],
)
def test_list_files(name: str, text: str, ids: list[str], photos: Path) -> None:
    assert listed(photos.parent / name, text) == list(zip(ids, [photos / "b.png", photos / "a.png"], strict=True))


def test_paths_in_a_list_start_from_its_folder(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert listed(photos / "list.txt", f"a.png\n{photos}/b.png\nsub\n") == [
        ("a.png", photos / "a.png"),
        (f"{photos}/b.png", photos / "b.png"),
        ("sub/c.png", photos / "sub" / "c.png"),
    ]


def test_names_that_are_no_text_in_a_list(photos: Path) -> None:
    name = os.fsdecode(b"bad\xff.png")
    (photos / name).write_bytes((photos / "a.png").read_bytes())
    assert listed(photos / "list.txt", b"bad\xff.png\n") == [(r"bad\xFF.png", photos / name)]
    (source,) = list_images([photos / name])
    assert source.id == f"{photos.as_posix()}/bad\\xFF.png"
    assert decode(source.read()).width == 2
    with pytest.raises(InputError, match=r"list\.csv.*valid Unicode.*save the list as UTF-8"):
        listed(photos / "list.csv", b"caf\xe9,a.png\nb,b.png\n")


def test_single_missing_files_are_the_ledger_s_matter(photos: Path) -> None:
    (photos / "list.txt").write_text("a.png\ngone.png\nlist.txt/below.png\n")
    fine, gone, below = list_images(photos / "list.txt")
    assert (fine.reason, gone.reason, below.reason) == (None, "no such file", "no such file")
    with pytest.raises(UndecodableImageError, match=r"^no such file$"):
        gone.read()


def test_if_all_are_missing_the_folder_is_wrong(photos: Path) -> None:
    (photos / "list.txt").write_text("photos/a.png\nphotos/b.png\n")
    with pytest.raises(InputError, match=r"none of its 2 files exists, first: .*photos/photos/a\.png.*start from"):
        list_images(photos / "list.txt")
    with pytest.raises(InputError, match="none of its 1 file exists"):
        list_images({"x": "gone.png"})


@pytest.mark.usefixtures("photos")
def test_a_folder_under_an_id() -> None:
    (_, folder) = list_images({"x": "photos/a.png", "y": "photos"})
    assert folder.reason == "a folder; a list with ids names files"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("list.json", "{", "not valid JSON"),
        ("list.json", "3", "a JSON int"),
        ("list.json", '[1, "photos/a.png", {"path": ""}, {"id": 7, "path": "x"}]', "3 problems"),
        ("list.json", "[" * 100_000, "not valid JSON"),
        ("list.csv", "id,path\nx,\n,photos/a.png\n", "2 problems"),
        ("list.csv", "a,b,c\n", "3 columns and no first row that names one of them path"),
        ("list.csv", "path\n" + "x" * 200_000, "not readable as CSV"),
        ("list.dat", b"\x01\x02\x00\x03", "neither an image, an archive nor a list"),
    ],
)
def test_what_is_no_list_says_what_is_wrong(name: str, text: str | bytes, words: str, photos: Path) -> None:
    with pytest.raises(FileFormatError, match=words):
        listed(photos / name, text)


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n"])
def test_an_empty_list(text: str, photos: Path) -> None:
    with pytest.raises(InputError, match="no file there"):
        listed(photos / "list.txt", text)
    with pytest.raises(InputError, match="no file there"):
        list_images([])
    with pytest.raises(InputError, match="no file there"):
        list_images({})


@pytest.mark.parametrize("wrong", [[1], [None], [b"a.png"], ["photos/a.png", 3]])
@pytest.mark.usefixtures("photos")
def test_what_is_no_path(wrong: list[object]) -> None:
    with pytest.raises(InputError, match="paths are strings or path objects; got"):
        list_images(wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="paths are strings or path objects; got"):
        list_images({"x": wrong[-1]})


@pytest.mark.parametrize("wrong", [1, "", None])
def test_ids_are_non_empty_strings(wrong: object, photos: Path) -> None:
    with pytest.raises(InputError, match="ids of images are non-empty strings"):
        list_images({wrong: "photos/a.png"})  # type: ignore[dict-item]
    with pytest.raises(InputError, match="ids of images are non-empty strings"):
        list_images(photos, ids=lambda _: wrong)  # type: ignore[arg-type, return-value]


def test_repeated_ids_name_the_files(photos: Path) -> None:
    text = "id,path\nx,a.png\ny,b.png\nx,sub/c.png\n"
    with pytest.raises(DuplicateIdError, match=r"1 id stands for several files, first: 'x' for .*a\.png.*c\.png"):
        listed(photos / "list.csv", text)


def test_ids_by_stem(photos: Path) -> None:
    assert [source.id for source in list_images(photos, ids="stem")] == ["a", "b", "c"]


def test_stems_that_images_share_are_an_error_with_the_way_out(photos: Path) -> None:
    (photos / "sub" / "a.png").write_bytes((photos / "a.png").read_bytes())
    with pytest.raises(DuplicateIdError, match=r"'a' for .*ids='relative' keeps them apart"):
        list_images(photos, ids="stem")


def test_captions_and_side_files_take_no_stem_from_an_image(photos: Path) -> None:
    (photos / "a.txt").write_text("a caption")
    (photos / "Thumbs.db").write_text("")
    (photos / "sub" / "Thumbs.db").write_text("")
    (photos / "notes.txt").write_text("alone with its stem")
    assert {source.id for source in list_images(photos, ids="stem")} == {
        "a",
        "a.txt",
        "b",
        "c",
        "notes",
        "Thumbs.db",
        "sub/Thumbs.db",
    }


def test_ids_by_mapping(photos: Path) -> None:
    sources = list_images(photos, ids={"one": "a.png", "three": photos.absolute() / "sub" / "c.png"})
    assert {source.id: source.reason for source in sources} == {
        "one": None,
        "b.png": "not named by the ids given",
        "three": None,
    }
    with pytest.raises(InputError, match=r"1 path is not among 3 files, first: 'gone.png'"):
        list_images(photos, ids={"one": "a.png", "two": "gone.png"})
    with pytest.raises(DuplicateIdError, match="one and two"):
        list_images(photos, ids={"one": "a.png", "two": "./a.png"})


def test_ids_by_function(photos: Path) -> None:
    assert [s.id for s in list_images(photos, ids=str.upper)] == ["A.PNG", "B.PNG", "SUB/C.PNG"]
    with pytest.raises(DuplicateIdError):
        list_images(photos, ids=lambda _: "same")


def test_an_unknown_rule(photos: Path) -> None:
    with pytest.raises(InputError, match="ids='row': give 'relative', 'stem'"):
        list_images(photos, ids="row")  # type: ignore[arg-type]


def test_a_long_list_is_reported_briefly(photos: Path) -> None:
    (photos / "list.json").write_text(json.dumps([1] * 1000))
    with pytest.raises(FileFormatError) as caught:
        list_images(photos / "list.json")
    assert "1000 problems" in str(caught.value)
    assert "and 950 more" in str(caught.value)


@pytest.mark.parametrize("list_file", ["list.txt", "list.csv"])
def test_an_entry_that_cannot_be_looked_at_costs_no_other(
    list_file: str, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["a.png", "n" * 300 + ".png", "closed/x.png", "closed", "b.png"]
    with_ids = list_file.endswith("csv")
    (photos / list_file).write_text(
        "".join(f"id of {name},{name}\n" if with_ids else f"{name}\n" for name in names)
    )
    look, scan = Path.stat, os.scandir

    def closed(path: Path, **options: bool) -> os.stat_result:
        if path.parent.name == "closed":
            raise PermissionError(13, "Permission denied")
        return look(path, **options)

    def unlisted(path: str) -> object:
        if "closed" in path:
            raise PermissionError(13, "Permission denied")
        return scan(path)

    (photos / "closed").mkdir()
    monkeypatch.setattr(Path, "stat", closed)
    monkeypatch.setattr(os, "scandir", unlisted)
    denied = "cannot be read: Permission denied"
    folder = "a folder; a list with ids names files" if with_ids else denied
    assert [source.reason for source in list_images(photos / list_file)] == [
        None,
        "cannot be read: File name too long",
        denied,
        folder,
        None,
    ]


@pytest.mark.usefixtures("photos")
def test_a_place_whose_name_is_too_long() -> None:
    with pytest.raises(InputError, match="cannot be read: File name too long"):
        list_images("n" * 300)


@pytest.mark.parametrize("wrong", [None, 7, 1.5])
def test_what_is_neither_a_place_nor_several(wrong: object) -> None:
    with pytest.raises(InputError, match=rf"images={wrong}: give a folder, .*; got {type(wrong).__name__}"):
        list_images(wrong)  # type: ignore[arg-type]
