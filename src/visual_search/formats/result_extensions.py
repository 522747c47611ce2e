"""What the keys of a result beyond the evaluation guide's must hold, to any depth that is read again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from visual_search.errors import Problems
from visual_search.formats.json_shapes import ANY, COUNT, ID, NUMBER, TEXT, Each, There, check_shape, needing, whole

__all__ = ["INTERVAL", "PROOF", "check_extensions"]


def check_extensions(record: Mapping[str, Any], problems: Problems) -> None:
    """Add every value of another type than the format has, by its place."""
    for key in _SHAPES.keys() & record.keys():
        check_shape(record[key], _SHAPES[key], key, problems)


INTERVAL = needing(
    *("low", "high"),
    low=NUMBER,
    high=NUMBER,
    confidence=NUMBER,
    method=TEXT,
    resamples=COUNT,
    seed=ID,
    groups=COUNT,
)
_MEASURE = {
    "mean": NUMBER,
    "words": TEXT,
    "ties": TEXT,
    "counted": COUNT,
    "undefined": COUNT,
    "undefined_queries": [ID],
    "interval": INTERVAL,
}
_AUDIT = {
    "warnings": There([TEXT]),
    "truth_sizes": needing(*("min", "max", "median"), min=There(NUMBER), max=There(NUMBER), median=There(NUMBER)),
    "categories": Each(There(COUNT)),
    "trivial_queries": [ID],
    "absent_items": Each([ID]),
}
_LEDGER = {
    **dict.fromkeys(("used", "changed", "left_out"), There(COUNT)),
    "reasons": Each(ANY),
    "left_out_files": [{"id": TEXT, "reason": TEXT}],
}
PROOF = {"allowed": [TEXT], "failed": [TEXT], "claims": [{"name": TEXT, "status": TEXT, "words": TEXT}]}
_SLICE = whole(
    *("slice", "measure", "mean"),
    slice=There(TEXT),
    measure=There(TEXT),
    mean=NUMBER,
    low=NUMBER,
    high=NUMBER,
    counted=COUNT,
    undefined=COUNT,
)
_SHAPES: dict[str, Any] = {
    "preset": TEXT,
    "ties": TEXT,
    "dataset": TEXT,
    "protocol": {"name": TEXT, "words": TEXT, "proof": PROOF},
    "measures": Each(There(_MEASURE)),
    "random_baseline": Each(NUMBER),
    "ceilings": Each(NUMBER),
    "truth": {"kind": TEXT, "pseudo_model": TEXT},
    "audit": _AUDIT,
    "left_out": Each(ANY),
    "embedder": {"name": TEXT, "dimension": COUNT, "weights_hash": TEXT},
    "index": {"engine": TEXT, "metric": TEXT, "items": COUNT, "settings": Each(ANY)},
    "ledger": _LEDGER,
    "fingerprints": Each(TEXT),
    "longest_list": COUNT,
    "sliced_by": TEXT,
    "slices": [There(_SLICE)],
    "versions": Each(ANY),
    "machine": Each(ANY),
    "seeds": Each(ANY),
    "files": Each(ANY),
    "file_checksums": Each(TEXT),
    "warnings": There([TEXT]),
    "notes": There([TEXT]),
}
