"""Which calls may bring strong zeros: those whose programs do."""

from __future__ import annotations

from typing import Any

from gnomon.core.strong import has_masks, masking_rule
from gnomon.transform.call import jit_p
from gnomon.transform.remat import remat_lin_p


@masking_rule.define(jit_p)
def _(params: dict[str, Any]) -> bool:
  return has_masks(params["jaxpr"])


@masking_rule.define(remat_lin_p)
def _(params: dict[str, Any]) -> bool:
  return has_masks(params["linear"])
