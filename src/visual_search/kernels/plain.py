"""The kernels with NumPy alone: what the compiled ones must equal, and what runs where there are none."""

from __future__ import annotations

from visual_search.kernels.plain_codes import count_code_ranks
from visual_search.kernels.plain_dicts import count_in_dicts
from visual_search.kernels.plain_ids import join_ids
from visual_search.kernels.plain_int8 import RowScreen, code_queries, pack_rows
from visual_search.kernels.plain_label_codes import count_labelled_codes
from visual_search.kernels.plain_nearest import merge_nearest
from visual_search.kernels.plain_pairs import pair_distances
from visual_search.kernels.plain_ranks import count_ranks
from visual_search.kernels.plain_runs import join_run
from visual_search.kernels.plain_tables import read_table

__all__ = [
    "RowScreen",
    "code_queries",
    "count_code_ranks",
    "count_in_dicts",
    "count_labelled_codes",
    "count_ranks",
    "join_ids",
    "join_run",
    "merge_nearest",
    "pack_rows",
    "pair_distances",
    "read_table",
]
