"""``visual-search leaks`` as a person types it."""

import hashlib
import json
from pathlib import Path

import pytest

from visual_search.cli.main import main
from visual_search.testing.textures import texture


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for role, seeds in (("queries", (1, 2)), ("gallery", (3, 4)), ("leaky", (2, 3))):
        Path(role).mkdir()
        for seed in seeds:
            texture(seed).save(f"{role}/{role}{seed}.png")


def test_0_when_clean_1_when_not_2_when_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["leaks", "--query", "queries", "--gallery", "gallery"]) == 0
    out = capsys.readouterr().out
    assert "no picture stands in two roles" in out
    assert out.splitlines()[-1] == "page: leaks.html"
    Path("leaky/broken.png").write_bytes(b"no picture")
    assert main(["leaks", "--query", "queries", "--gallery", "leaky", "-o", "l.html", "--save", "l.json"]) == 1
    out = capsys.readouterr().out
    assert "1 pair in 1 group: 1 the same pixel for pixel" in out
    assert "query queries2.png = gallery leaky2.png (the same pixel for pixel)" in out
    assert "left out: gallery broken.png: " in out
    assert out.splitlines()[-2:] == ["page: l.html", "saved: l.json"]
    assert Path("l.html").read_text("utf-8").count("data:image/webp") == 1
    assert json.loads(Path("l.json").read_text())["pairs_by_kind"]["same_pixels"] == 1
    assert main(["leaks"]) == 2
    assert "give two of them" in capsys.readouterr().err
    assert main(["leaks", "--query", "queries"]) == 2
    assert main(["leaks", "--query", "nowhere", "--gallery", "gallery"]) == 2
    assert main(["leaks", "--query", "queries", "--gallery", "gallery", "--detail", "2"]) == 2
    assert "detail=2.0" in capsys.readouterr().err


def test_five_pairs_are_named_and_the_others_counted(capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(8):
        for role in ("queries", "leaky"):
            texture(100 + number).save(f"{role}/more{number}.png")
    assert main(["leaks", "--query", "queries", "--gallery", "leaky"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("  query ") for line in lines) == 5
    assert "  ... and 4 more" in lines


def test_json_and_within(capsys: pytest.CaptureFixture[str]) -> None:
    texture(3).save("gallery/again.png")
    assert main(["leaks", "--gallery", "gallery", "--within", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert [(pair["kind"], pair["first"]["id"], pair["second"]["id"]) for pair in told["pairs"]] == [
        ("same_pixels", "again.png", "gallery3.png")
    ]
    assert told["flagged"] == {"gallery": ["again.png", "gallery3.png"]}


def test_a_picture_replaced_after_the_comparison_is_told_in_a_later_report() -> None:
    assert main(["leaks", "--query", "queries", "--gallery", "leaky", "--save", "l.json"]) == 1
    (pair,) = json.loads(Path("l.json").read_text())["pairs"]
    assert pair["first"]["sha256"] == hashlib.sha256(Path("queries/queries2.png").read_bytes()).hexdigest()
    told = []
    for number, replaced in enumerate((None, "queries/queries2.png")):
        if replaced is not None:
            texture(9).save(replaced)
        assert main(["report", "l.json", "-o", f"{number}.html"]) == 0
        told.append(Path(f"{number}.html").read_text("utf-8"))
    assert [page.count("since it was compared</span>") for page in told] == [0, 1]
    assert "1 file has changed since it was compared" in told[1]
