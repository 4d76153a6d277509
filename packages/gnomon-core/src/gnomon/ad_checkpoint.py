"""Rematerialisation: `checkpoint`, names and policies for it, and what it saves."""

from __future__ import annotations

from gnomon import checkpoint_policies as checkpoint_policies
from gnomon.api.checkpoint import checkpoint as checkpoint
from gnomon.api.checkpoint import checkpoint_name as checkpoint_name
from gnomon.api.checkpoint import remat as remat
from gnomon.api.residuals import print_saved_residuals as print_saved_residuals
from gnomon.api.residuals import saved_residuals as saved_residuals
from gnomon.transform.partial_eval import Offloadable as Offloadable
from gnomon.transform.partial_eval import Recompute as Recompute
from gnomon.transform.partial_eval import Saveable as Saveable

__all__ = [
    "Offloadable", "Recompute", "Saveable", "checkpoint", "checkpoint_name",
    "checkpoint_policies", "print_saved_residuals", "remat", "saved_residuals"]
