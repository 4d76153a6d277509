"""How arrays are printed: NumPy's options, and texts of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.trace import Tracer


def get_printoptions() -> dict[str, Any]:
  """The options for printing arrays, which are NumPy's own.

  >>> import gnomon.numpy as gnp
  >>> gnp.get_printoptions()["threshold"]
  1000
  """
  return dict(np.get_printoptions())


def set_printoptions(*args: Any, **kwargs: Any) -> None:
  """Sets options for printing arrays; NumPy's arrays obey them too.

  Args:
    *args: as of `numpy.set_printoptions`.
    **kwargs: as of `numpy.set_printoptions`: `precision`, `threshold`, `linewidth`, …

  >>> import gnomon.numpy as gnp
  >>> gnp.set_printoptions(precision=8)
  """
  np.set_printoptions(*args, **kwargs)


def printoptions(*args: Any, **kwargs: Any) -> Any:
  """A context with other options for printing arrays.

  Args:
    *args: as of `numpy.set_printoptions`.
    **kwargs: as of `numpy.set_printoptions`: `precision`, `threshold`, `linewidth`, …

  >>> import gnomon.numpy as gnp
  >>> with gnp.printoptions(precision=2):
  ...   print(gnp.array([3.14159]))
  [3.14]
  """
  return np.printoptions(*args, **kwargs)


def array_repr(
    arr: Any, max_line_width: int | None = None, precision: int | None = None,
    suppress_small: bool | None = None) -> str:
  """The text of an array with its dtype, as `repr` gives it.

  Args:
    arr: an array.
    max_line_width: the length of lines; None: that of the options.
    precision: digits after the point; None: that of the options.
    suppress_small: prints numbers near zero as zero; None: what the options say.

  >>> import gnomon.numpy as gnp
  >>> gnp.array_repr(gnp.arange(3))
  'Array([0, 1, 2], dtype=int32)'
  """
  if isinstance(arr, np.ndarray):
    return str(np.array_repr(arr, max_line_width, precision, suppress_small))
  with np.printoptions(**_options(max_line_width, precision, suppress_small)):
    return repr(arr)


def array_str(
    a: Any, max_line_width: int | None = None, precision: int | None = None,
    suppress_small: bool | None = None) -> str:
  """The text of an array's elements, as `str` gives it.

  Args:
    a: an array.
    max_line_width: the length of lines; None: that of the options.
    precision: digits after the point; None: that of the options.
    suppress_small: prints numbers near zero as zero; None: what the options say.

  >>> import gnomon.numpy as gnp
  >>> gnp.array_str(gnp.arange(3))
  '[0 1 2]'
  """
  if isinstance(a, Tracer):
    return str(a)
  with np.printoptions(**_options(max_line_width, precision, suppress_small)):
    return str(np.asarray(a))


def _options(width: int | None, precision: int | None, suppress: bool | None) -> Any:
  given = {"linewidth": width, "precision": precision, "suppress": suppress}
  return {name: value for name, value in given.items() if value is not None}


def iterable(y: Any) -> bool:
  """Whether an argument can be iterated over.

  Args:
    y: anything.

  >>> import gnomon.numpy as gnp
  >>> gnp.iterable(gnp.arange(2)), gnp.iterable(gnp.array(1))
  (True, False)
  """
  try:
    iter(y)
  except TypeError:
    return False
  return True
