"""A proof: what a split claims about itself, claim by claim, with counts and whether it holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from visual_search.errors import FileFormatError, ProofError, first_few
from visual_search.ids import Id

__all__ = ["Claim", "Proof", "Status", "broken_claims"]

Status: TypeAlias = Literal["holds", "fails", "allowed"]
_SIGNS = {"holds": "holds", "fails": "FAILS", "allowed": "ALLOWED BY NAME"}


@dataclass(frozen=True, slots=True)
class Claim:
    """One property of a split.

    Attributes
    ----------
    name : str
        ``items``, ``groups``, ``views``, ``answers``, ``relevance``, ``counts``, ``parts``.
    status : {"holds", "fails", "allowed"}
        ``allowed``: it does not hold, and whoever made the split asked for that by name.
    words : str
        What was found, in a sentence.
    counts : mapping of str to int
        The numbers in it.
    examples : tuple of ids
        First offenders, or none.
    """

    name: str
    status: Status
    words: str
    counts: Mapping[str, int] = field(default_factory=dict)
    examples: tuple[Id, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "name": self.name,
            "status": self.status,
            "words": self.words,
            "counts": dict(self.counts),
            "examples": list(self.examples),
        }


@dataclass(frozen=True, slots=True)
class Proof:
    """Every claim of a split, checked against its items.

    Attributes
    ----------
    claims : tuple of Claim
    fingerprints : mapping of str to str
        Of the queries, the gallery and the right answers (or of the parts) that the claims are about.

    How to read it
    --------------
    ``holds`` says that nothing that was promised is broken. ``marked`` names what was broken on request: numbers of
    such a split must not stand beside numbers of one without marks.

    Examples
    --------
    >>> proof = Proof((Claim("views", "fails", "view 0 is in both sets"),), {})
    >>> proof.holds, proof.failed
    (False, ('views',))
    """

    claims: tuple[Claim, ...]
    fingerprints: Mapping[str, str]

    @property
    def holds(self) -> bool:
        """Whether no claim fails."""
        return not self.failed

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of the claims that fail."""
        return tuple(claim.name for claim in self.claims if claim.status == "fails")

    @property
    def marked(self) -> tuple[str, ...]:
        """Names of the claims that do not hold and were allowed by name."""
        return tuple(claim.name for claim in self.claims if claim.status == "allowed")

    def __getitem__(self, name: str) -> Claim:
        return next(claim for claim in self.claims if claim.name == name)

    def words(self) -> str:
        """One line a claim."""
        head = "proof holds" if self.holds else f"proof FAILS: {', '.join(self.failed)}"
        marks = f"; allowed by name: {', '.join(self.marked)}" if self.marked else ""
        return "\n".join([f"{head}{marks}", *(f"  {_SIGNS[one.status]}: {one.words}" for one in self.claims)])

    def require(self, what: str) -> None:
        """Refuse to go on with a split that does not hold.

        Raises
        ------
        ProofError
            With every claim that fails.
        """
        if not self.holds:
            lines = [f"  - {claim.name}: {claim.words}" for claim in self.claims if claim.status == "fails"]
            raise ProofError("\n".join([f"{what}: the split does not hold what it promises", *lines]))

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "holds": self.holds,
            "failed": list(self.failed),
            "allowed": list(self.marked),
            "claims": [claim.as_json() for claim in self.claims],
            "fingerprints": dict(self.fingerprints),
        }

    def check_against(self, stored: Any, *, subject: str) -> None:
        """Hold a stored proof against this one, which was made anew; words may differ, findings may not.

        Raises
        ------
        FileFormatError
            They differ; the message names the claims and fingerprints.
        """
        told = stored if isinstance(stored, Mapping) else {}
        listed = told.get("claims")
        known = [_finding(one) for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
        fresh = [_finding(claim.as_json()) for claim in self.claims]
        prints = told.get("fingerprints")
        different = [f"fingerprint of {name}" for name in _changed(self.fingerprints, prints)]
        different += [
            f"claim {claim.name}: {claim.words}"
            for claim, found in zip(self.claims, fresh, strict=True)
            if found not in known
        ]
        different += [f"claim {one['name']}: no longer there" for one in known if one not in fresh]
        different += [
            f"{key}: {first_few(list(ours)) if ours else 'none'}"
            for key, ours in (("failed", self.failed), ("allowed", self.marked))
            if told.get(key) != list(ours)
        ]
        if told.get("holds") is not self.holds:
            different.append(f"whether the proof holds: it {'does' if self.holds else 'does not'}")
        if different:
            lines = "\n".join(f"  - {line}" for line in dict.fromkeys(different))
            raise FileFormatError(
                f"{subject}: its proof is not that of its content; it was changed after it was written. Found "
                f"anew:\n{lines}\nmake the split again"
            )


def broken_claims(protocol: Mapping[str, Any] | None) -> tuple[str, ...]:
    """What a result's split does not hold, by what the result says of its protocol.

    Parameters
    ----------
    protocol : mapping or None
        ``result.protocol``, or the record's of that name.

    Returns
    -------
    tuple of str
        Name and words of every claim that fails or was allowed by name; empty where all hold, or nothing is proven.

    Examples
    --------
    >>> claims = Claim("items", "holds", "no item twice"), Claim("views", "allowed", "view 0 is in both sets")
    >>> proof = Proof(claims, {})
    >>> broken_claims({"name": "given", "proof": proof.as_json()})
    ('views: view 0 is in both sets',)
    """
    told = protocol.get("proof") if isinstance(protocol, Mapping) else None
    if not isinstance(told, Mapping):
        return ()
    listed = told.get("claims")
    claims = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    words = {str(one.get("name")): str(one.get("words")) for one in claims}
    names = [str(name) for key in ("failed", "allowed") for name in told.get(key) or ()]
    return tuple(f"{name}: {words[name]}" if name in words else name for name in dict.fromkeys(names))


def _finding(claim: Mapping[str, Any]) -> dict[str, Any]:
    return {key: claim.get(key) for key in ("name", "status", "counts", "examples")}


def _changed(fresh: Mapping[str, str], stored: Any) -> list[str]:
    known = stored if isinstance(stored, Mapping) else {}
    return [name for name, value in fresh.items() if known.get(name) != value]
