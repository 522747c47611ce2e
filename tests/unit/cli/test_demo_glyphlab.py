"""``visual-search demo glyphlab`` as a person types it."""

import json
from pathlib import Path

import pytest

from visual_search.cli.main import main

FILES = ["corrupted_test.npy", "images.npy", "metadata.csv"]


def test_it_writes_the_files_and_prints_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "lab" / "data"
    assert main(["demo", "glyphlab", "--out", str(out)]) == 0
    assert sorted(path.name for path in out.iterdir()) == FILES
    told = capsys.readouterr()
    rows = {line.split("  ")[0]: line.split() for line in told.out.splitlines()}
    for condition in ("view 0 -> view 1", "view 1 -> view 0", "both directions"):
        assert rows[condition].count("1.0000") == 5
    assert {"0.9667", "0.9833"} <= set(rows["view 0 at severity 2 -> view 1"])
    assert "0.2283" in rows["another scene of the class, both"]
    assert "by chance, view 0 -> view 1: R@1 0.033, mAP@5 0.076" in told.out
    assert all(name in told.err for name in FILES)
    assert main(["demo", "glyphlab", "--out", str(out)]) == 0


def test_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "glyphlab", "--out", str(tmp_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert sorted(Path(path).name for path in told["files"]) == FILES
    assert len(told["rows"]) == 9
    corrupted = told["rows"][4]
    assert corrupted["condition"] == "view 0 at severity 2 -> view 1"
    hit = corrupted["measures"]["HitRate@1"]
    assert hit["mean"] == 29 / 30
    assert hit["interval"]["low"] < 29 / 30 <= hit["interval"]["high"]
    assert hit["interval"]["groups"] == 30
    both = told["rows"][2]
    assert both["num_queries"] == 60
    assert both["measures"]["HitRate@1"]["interval"]["groups"] == 30
    assert both["random"]["HitRate@1"] == pytest.approx(1 / 30)


def test_wrong_use_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "glyphlab", "--out", str(tmp_path / "x"), "--open"]) == 2
    assert "no report to open" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()
    (tmp_path / "images.npy").write_bytes(b"mine")
    assert main(["demo", "glyphlab", "--out", str(tmp_path)]) == 2
    assert "'images.npy' of other content" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["images.npy"]
    with pytest.raises(SystemExit) as ended:
        main(["demo", "glyphs"])
    assert ended.value.code == 2
    assert "glyphlab" in capsys.readouterr().err
