"""Words of the library as the command line has them: flags for arguments, protocols for functions."""

from __future__ import annotations

import re

__all__ = ["command_words"]

_PROTOCOLS = (
    *("by_view", "leave_one_out", "one_query_per_group", "within_radius", "random_images"),
    *("parts_by_group", "parts_by_column", "parts_of_random_images", "group_folds"),
)
_CALL = re.compile(rf"\b(?P<name>{'|'.join(_PROTOCOLS)})\b(?:\(table(?P<options>[^)]*)\))?")
_OPTION = re.compile(r"(\w+)=([^,\s]+)")
_FLAG = re.compile(r"\b(allow_shared_groups|despite|all_pairs)=(True\b)?")


def command_words(text: str) -> str:
    """Write a message of the library for someone who typed a command.

    >>> command_words("one query per group, or by name, allow_shared_groups=True")
    'one query per group, or by name, --allow-shared-groups'
    >>> command_words("by_view(table, group=..., view=..., query=0, gallery=1)")
    '--protocol by-view --group COLUMN --view COLUMN --query 0 --gallery 1'
    """
    return _FLAG.sub(lambda found: _flag(found[1]), _CALL.sub(_protocol, text))


def _protocol(found: re.Match[str]) -> str:
    options = [
        f"{_flag(name)} {'COLUMN' if value == '...' else value}"
        for name, value in _OPTION.findall(found["options"] or "")
    ]
    return " ".join([f"--protocol {found['name'].replace('_', '-')}", *options])


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
