"""Tables of simulations that stand in the documentation: the options they are made with, and their place in a page."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

from visual_search.evaluation.provenance import machine, versions

EXPLANATION = Path(__file__).parents[1] / "docs" / "explanation"


def table_options(description: str | None, **counts: int) -> argparse.Namespace:
    """Options of the command line: whole numbers with their defaults, and ``--write``."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, count in counts.items():
        parser.add_argument(f"--{name}", type=int, default=count)
    parser.add_argument("--write", action="store_true", help="put the table into the documentation")
    return parser.parse_args()


@dataclass(frozen=True, slots=True)
class DocumentedTable:
    """Where a table stands in a page, between two comments.

    Attributes
    ----------
    page : Path
    begin, end : str
        The comments, as they stand in the page.
    """

    page: Path
    begin: str
    end: str

    def show(self, lines: list[str], remark: str, *, write: bool) -> None:
        """Print the table with machine and versions before it and a remark behind; put it into the page if asked."""
        table = "\n".join(lines)
        print(json.dumps({"machine": machine(), "versions": versions()}), table, remark, sep="\n")
        if write:
            self._put(table)

    def _put(self, table: str) -> None:
        before, begin, rest = self.page.read_text("utf-8").partition(self.begin)
        _, end, after = rest.partition(self.end)
        if not begin or not end:
            raise SystemExit(
                f"{self.page}: {self.begin} and, below it, {self.end} must stand there; put both where the table goes"
            )
        self.page.write_text(f"{before}{begin}\n\n{table}\n\n{end}{after}", "utf-8")
