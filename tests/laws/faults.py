"""The second table: planted faults, and the laws that catch them."""

from __future__ import annotations

from laws import faults_attention, faults_state
from laws.planting import Fault

FAULTS: tuple[Fault, ...] = (*faults_attention.FAULTS, *faults_state.FAULTS)
