"""Marks in profiles: stretches of time with names."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from gnomon.runtime.jaxlib.profiling import TraceMe

P = ParamSpec("P")
R = TypeVar("R")


class TraceAnnotation(TraceMe):  # type: ignore[misc]  # its base is of C++
  """A context manager that marks a stretch of time in a profile.

  It costs a third of a microsecond where nothing is recorded.

  Args:
    name: what the profile shows.
    **kwargs: numbers and strings that it shows with it.

  >>> from gnomon import profiler
  >>> with profiler.TraceAnnotation("loading", batch=3):
  ...   pass
  """


class StepTraceAnnotation(TraceAnnotation):
  """A `TraceAnnotation` for a step of a training: tools then show times by step.

  Args:
    name: what the profile shows.
    **kwargs: `step_num` is the number of the step.

  >>> from gnomon import profiler
  >>> for i in range(2):
  ...   with profiler.StepTraceAnnotation("train", step_num=i):
  ...     pass
  """

  def __init__(self, name: str, **kwargs: Any) -> None:
    super().__init__(name, _r=1, **kwargs)  # `_r` marks the root of a step for the tools


def annotate_function(
    func: Callable[P, R], name: str | None = None, **decorator_kwargs: Any,
) -> Callable[P, R]:
  """A function whose calls are marked in profiles.

  Args:
    func: the function.
    name: what the profile shows; its own name by default.
    **decorator_kwargs: numbers and strings that it shows with it.

  >>> from gnomon import profiler
  >>> @profiler.annotate_function
  ... def double(x):
  ...   return 2 * x
  >>> double(3)
  6
  """
  shown = name or getattr(func, "__qualname__", None) or repr(func)

  @functools.wraps(func)
  def marked(*args: P.args, **kwargs: P.kwargs) -> R:
    with TraceAnnotation(shown, **decorator_kwargs):
      return func(*args, **kwargs)

  return marked
