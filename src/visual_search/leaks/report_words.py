"""A leak report in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from visual_search.leaks.picture_pairs import KIND_WORDS

if TYPE_CHECKING:
    from visual_search.leaks.leak_report import LeakReport

__all__ = ["counted", "report_words"]


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number and its noun.

    >>> counted(1, "pair"), counted(2_000, "pair"), counted(0, "query", "queries")
    ('1 pair', '2,000 pairs', '0 queries')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def report_words(report: LeakReport) -> str:
    """What was compared, what was found, what to bear in mind."""
    lines = ["compared: " + ", ".join(_role_words(report))]
    total = sum(report.pairs_by_kind.values())
    if not total:
        lines.append("no picture stands in two roles" if not report.within else "no picture is there twice")
    else:
        kinds = ", ".join(
            f"{number:,} {KIND_WORDS[kind][number != 1]}" for kind, number in report.pairs_by_kind.items() if number
        )
        where = ", ".join(
            f"{counted(len(ids), 'picture')} of {role}" for role, ids in report.flagged.items() if ids
        )
        lines.append(f"{counted(total, 'pair')} in {counted(len(report.groups), 'group')}: {kinds}; {where}")
    if report.pairs_left_out:
        lines.append(f"only the first {len(report.pairs):,} pairs are listed; all are counted")
    lines += [unit.words() for unit in report.shared]
    chains = [group for group in report.groups if not group.complete]
    if chains:
        longest = max(chains, key=lambda group: group.pictures)
        lines.append(
            f"{counted(len(chains), 'group')} chained: not every two pictures in it are alike; the longest, group "
            f"{longest.number}, has {longest.pictures:,} pictures"
            + ("; look at it before anything is dropped" if longest.long else "")
        )
    plain = sum(role.plain for role in report.roles)
    if plain:
        lines.append(f"{counted(plain, 'picture')} without detail (uniform or smooth) compared by pixels only")
    lines.append(report.thresholds.words() + ("; mirror images too" if report.mirrored else ""))
    return "\n".join(lines)


def _role_words(report: LeakReport) -> list[str]:
    return [
        counted(role.pictures, "picture")
        + f" of {role.name}"
        + (f" ({counted(role.left_out, 'file')} left out)" if role.left_out else "")
        for role in report.roles
    ]
