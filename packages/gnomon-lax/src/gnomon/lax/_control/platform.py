"""`platform_dependent`: one of several functions, chosen when a program is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gnomon.core.primitive import Primitive
from gnomon.core.rule import lower, typing_rule
from gnomon.core.types import ShapedArray
from gnomon.lax._control.common import check_functions
from gnomon.lax._control.cond import Platforms, branch_on, chosen_branch


def platform_dependent(
    *args: Any, default: Callable[..., Any] | None = None,
    **per_platform: Callable[..., Any]) -> Any:
  """Applies the function for the platform that a program is compiled for.

  All functions are traced. Which one is compiled is decided when the program is, so that
  a program which is exported, or lowered ahead of time for another platform, does there
  what it should. They need not be able to run on other platforms than their own.

  Args:
    args: pytrees of arrays: the arguments of the functions.
    default: the function for platforms that are not named.
    per_platform: functions by the name of their platform: `cpu`, `cuda`, `rocm`, `tpu`.
      Their results have the same structure and types.

  Returns:
    The result of the chosen function.

  >>> from gnomon import lax
  >>> float(lax.platform_dependent(3.0, cpu=lax.neg, default=lax.square))
  -3.0

  Raises:
    TypeError: a function cannot be called; the results differ in structure or types.
    ValueError: the platform `gpu` is named: say which kind.
    NotImplementedError: there is no function for the platform, when the program is
      compiled.
  """
  if "gpu" in per_platform:
    raise ValueError("Use 'cuda' or 'rocm' for lax.platform_dependent.")
  named = dict(per_platform)
  if default is not None:
    named["default"] = default
  check_functions("platform_dependent", **named)
  branches: list[Callable[..., Any]] = []
  names: list[tuple[str, ...] | None] = []
  for name, f in per_platform.items():
    if f in branches:
      i = branches.index(f)
      names[i] = (*(names[i] or ()), name)
    else:
      branches.append(f)
      names.append((name,))
  if default is not None:
    branches.append(default)
    names.append(None)
  if not branches:
    raise NotImplementedError(
        "platform_dependent needs a function: pass one for a platform, such as "
        "cpu=function, or a default")
  platforms = tuple(names)
  (index,) = platform_index_p.apply(platforms=platforms)
  labels = tuple(["default" if n is None else "/".join(n) for n in platforms])
  return branch_on(
      "platform_dependent", index, branches, labels, args, branches_platforms=platforms)


platform_index_p = Primitive("platform_index")
typing_rule.define(platform_index_p)(
    lambda *, platforms: (ShapedArray((), np.dtype(np.int32)),))


@lower.define(platform_index_p)
def _(ctx: Any, *, platforms: Platforms) -> Any:
  return [ctx.b.constant(chosen_branch(ctx.platforms, platforms), np.dtype(np.int32))]
