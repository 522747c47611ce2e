"""Every error this package raises on purpose.

::

    VisualSearchError
    |- InputError (ValueError)                  an argument's value is not allowed
    |  |- DuplicateIdError                      the same id twice where ids must be distinct
    |  |- NonFiniteError                        NaN or infinity where a finite number is needed
    |  |- DimensionError                        vectors of another dimension
    |  |- ZeroVectorError                       a vector without direction under cosine
    |  |- DepthError                            k beyond what is there
    |  |- FileFormatError                       a file that is truncated, foreign or inconsistent
    |  |  |- DatasetError                       an evaluation dataset with problems, all of them listed
    |  |- UndecodableImageError                 bytes that are not an image within the limits
    |- UnknownIdError (KeyError)                an id that is not there
    |- UnknownNameError (ValueError)            a measure, preset, embedder or engine nobody registered
    |- FingerprintError (ValueError)            two things that do not belong together
    |- MissingDependencyError (ImportError)     an extra is needed; the message has the install command
    |- NotTrainedError (RuntimeError)           an engine that needs training has had none
    |- ProofError (ValueError)                  a split that does not hold what it promises, or is refused

A message says what came, what is allowed, the first offending ids, and how to mend it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = [
    "DatasetError",
    "DepthError",
    "DimensionError",
    "DuplicateIdError",
    "FileFormatError",
    "FingerprintError",
    "InputError",
    "MissingDependencyError",
    "NonFiniteError",
    "NotTrainedError",
    "Problems",
    "ProofError",
    "UndecodableImageError",
    "UnknownIdError",
    "UnknownNameError",
    "VisualSearchError",
    "ZeroVectorError",
    "first_few",
]


class VisualSearchError(Exception):
    """Root of all errors of this package."""


class InputError(VisualSearchError, ValueError):
    """An argument's value is not allowed."""


class DuplicateIdError(InputError):
    """The same id appears twice where ids must be distinct."""


class NonFiniteError(InputError):
    """NaN or infinity where a finite number is needed."""


class DimensionError(InputError):
    """Vectors of another dimension than the one agreed on."""


class ZeroVectorError(InputError):
    """A zero vector has no direction, so its cosine with anything is undefined."""


class DepthError(InputError):
    """A depth k beyond what is there."""


class FileFormatError(InputError):
    """A file is truncated, of another format, or contradicts itself."""


class DatasetError(FileFormatError):
    """An evaluation dataset has problems; the message lists all of them."""


class UndecodableImageError(InputError):
    """Bytes that are not an image, or not one within the limits."""


class UnknownIdError(VisualSearchError, KeyError):
    """An id that is not there."""

    def __str__(self) -> str:
        # KeyError shows the repr of its argument, which hides line breaks of the message.
        return str(self.args[0]) if self.args else ""


class UnknownNameError(VisualSearchError, ValueError):
    """A measure, preset, embedder or engine that nobody registered."""


class FingerprintError(VisualSearchError, ValueError):
    """Two things that were meant for each other are not; the message says which part differs."""


class MissingDependencyError(VisualSearchError, ImportError):
    """An optional dependency is needed; the message has the command that installs it."""


class NotTrainedError(VisualSearchError, RuntimeError):
    """An engine that needs training was used before it had any."""


class ProofError(VisualSearchError, ValueError):
    """A split that does not hold what it promises, or one whose numbers would say nothing; the message says why."""


def first_few(values: Iterable[object], limit: int = 5) -> str:
    """Write the first values and how many more there are.

    >>> first_few(["a", "b", "c"], limit=2)
    "'a', 'b' and 1 more"
    """
    listed = list(values)
    head = ", ".join(repr(value) for value in listed[:limit])
    more = len(listed) - limit
    return f"{head} and {more} more" if more > 0 else head


class Problems:
    """Collects everything wrong with one input, then raises once.

    >>> problems = Problems("eval.json")
    >>> problems.add("queries[3]: no query_id; give each query a non-empty string")
    >>> problems.raise_if_any(DatasetError)
    Traceback (most recent call last):
    ...
    visual_search.errors.DatasetError: eval.json: 1 problem
      - queries[3]: no query_id; give each query a non-empty string
    """

    def __init__(self, subject: str, *, shown: int = 50) -> None:
        self._subject = subject
        self._shown = shown
        self._found: list[str] = []

    def add(self, problem: str) -> None:
        """Note one problem: where, what came, what is allowed, how to mend it."""
        self._found.append(problem)

    def __len__(self) -> int:
        return len(self._found)

    @property
    def found(self) -> Sequence[str]:
        """All problems in the order they were found."""
        return tuple(self._found)

    def raise_if_any(self, error: type[VisualSearchError] = InputError) -> None:
        """Raise one error that lists every problem, or do nothing if there is none."""
        if not self._found:
            return
        count = len(self._found)
        lines = [f"{self._subject}: {count} problem{'s' if count > 1 else ''}"]
        lines += [f"  - {problem}" for problem in self._found[: self._shown]]
        if count > self._shown:
            lines.append(f"  ... and {count - self._shown} more of the kinds above")
        raise error("\n".join(lines))
