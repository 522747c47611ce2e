"""Joins a run file with what the right answers are, without making a ranking of it."""

from __future__ import annotations

import os
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, first_few
from visual_search.evaluation.positions import Positions, falling_grades
from visual_search.evaluation.ties import TiePlaces
from visual_search.ground_truth.relevance import Relevance
from visual_search.kernels.dispatch import kernels

__all__ = ["join_run_file"]
