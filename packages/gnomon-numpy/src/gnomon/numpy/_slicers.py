"""Objects that are indexed to make arrays: `mgrid`, `ogrid`, `r_`, `c_`."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon import numpy_dtype_promotion
from gnomon.core.trace import Tracer
from gnomon.core.types import typeof
from gnomon.errors import ConcretizationTypeError
from gnomon.numpy._conversion import asarray
from gnomon.numpy._creation import arange
from gnomon.numpy._grids import meshgrid
from gnomon.numpy._joining import concatenate, stack
from gnomon.numpy._promotion import promote_dtypes
from gnomon.numpy._shape import expand_dims, moveaxis, reshape
from gnomon.numpy._spaces import linspace

s_ = np.s_
index_exp = np.index_exp


def _range_of(s: slice, name: str) -> Any:
  """The numbers of a slice; with a complex step, so many from start to stop."""
  for part in ("start", "stop", "step"):
    value = getattr(s, part)
    if isinstance(value, Tracer) and value.concrete() is None:
      raise ConcretizationTypeError(
          value, f"it is the slice {part} of jnp.{name}, which decides the size")
  start = 0 if s.start is None else s.start
  step = 1 if s.step is None else s.step
  if s.stop is None:
    return arange(0)
  if isinstance(step, complex) or np.iscomplexobj(step):
    return linspace(start, s.stop, int(abs(step)))
  return arange(start, s.stop, step)


def _ranges(key: Any, name: str) -> list[Any]:
  for k in key:
    if not isinstance(k, slice):
      raise TypeError(f"{name} is indexed by slices only, got {k!r}")
  with numpy_dtype_promotion("standard"):  # integers among floats are meant as such
    return promote_dtypes(*[_range_of(k, name) for k in key]) if key else []


class _Mgrid:
  """`mgrid[a:b, c:d]`: the coordinates of all points of a grid, in one array.

  Each slice makes the coordinates along one dimension: `start:stop:step`; with a complex
  step, such as `5j`, so many numbers from start to stop, inclusive.

  >>> import gnomon.numpy as gnp
  >>> gnp.mgrid[0:2, 0:3].shape
  (2, 2, 3)
  >>> gnp.mgrid[0:1:3j].tolist()
  [0.0, 0.5, 1.0]
  """

  def __getitem__(self, key: Any) -> Any:
    if not isinstance(key, tuple):
      return _ranges((key,), "mgrid")[0]
    found = meshgrid(*_ranges(key, "mgrid"), indexing="ij")
    return stack(found, 0) if found else asarray(np.zeros((0,), np.int32))

  def __repr__(self) -> str:
    return "mgrid"


class _Ogrid:
  """`ogrid[a:b, c:d]`: the coordinates of the points of a grid, ready to be broadcast.

  >>> import gnomon.numpy as gnp
  >>> [x.shape for x in gnp.ogrid[0:2, 0:3]]
  [(2, 1), (1, 3)]
  """

  def __getitem__(self, key: Any) -> Any:
    if not isinstance(key, tuple):
      return _ranges((key,), "ogrid")[0]
    return meshgrid(*_ranges(key, "ogrid"), indexing="ij", sparse=True)

  def __repr__(self) -> str:
    return "ogrid"


class _Joiner:
  """Concatenates what stands between the brackets: slices, numbers, arrays.

  A leading string sets the axis, the least number of dimensions, and where the dimensions
  of arrays with fewer go: `"0,2"`, `"1,2,0"`; or `"r"`, `"c"` for a row or a column.
  """

  def __init__(self, name: str, axis: int, ndmin: int, trans1d: int, doc: str) -> None:
    self._name, self._defaults, self.__doc__ = name, (axis, ndmin, trans1d), doc

  def __repr__(self) -> str:
    return self._name

  def __getitem__(self, key: Any) -> Any:
    parts = key if isinstance(key, tuple) else (key,)
    axis, ndmin, trans1d = self._defaults
    column = None
    if parts and isinstance(parts[0], str):
      (axis, ndmin, trans1d), column = self._directive(parts[0])
      parts = parts[1:]
    arrays = [self._part(p, ndmin, trans1d) for p in parts]
    arrays = promote_dtypes(*arrays) if arrays else [asarray(np.zeros((0,), np.float32))]
    out = concatenate(arrays, axis)
    if column is None or typeof(out).ndim > 1:
      return out
    return reshape(out, (-1, 1) if column else (1, -1))

  def _directive(self, text: str) -> tuple[tuple[int, int, int], bool | None]:
    if text in ("r", "c"):
      return self._defaults, text == "c"
    try:
      numbers = [int(n) for n in text.split(",")]
    except ValueError:
      raise ValueError(
          f"{self._name}: could not understand directive {text!r}: expected 'r', 'c', or "
          "up to three integers: axis, number of dimensions, place of the given ones"
      ) from None
    axis, ndmin, trans1d = [*numbers, *self._defaults[len(numbers):]][:3]
    return (axis, ndmin, trans1d), None

  def _part(self, p: Any, ndmin: int, trans1d: int) -> Any:
    if isinstance(p, str):
      raise ValueError(  # noqa: TRY004 -- strings are allowed, elsewhere
          f"{self._name}: a directive must come first, got {p!r}")
    x = _range_of(p, self._name) if isinstance(p, slice) else asarray(p)
    ndim = max(typeof(x).ndim, 0)
    if not ndim:
      x = reshape(x, (1,))
      ndim = 1
    missing = ndmin - ndim
    if missing <= 0:
      return x
    x = expand_dims(x, tuple(range(missing)))
    start = trans1d if trans1d >= 0 else ndmin - ndim + trans1d + 1
    start = min(max(start, 0), missing)
    return moveaxis(x, tuple(range(missing, ndmin)), tuple(range(start, start + ndim)))


mgrid = _Mgrid()
ogrid = _Ogrid()
r_ = _Joiner("r_", 0, 1, -1, """Concatenates what stands between the brackets.

  The first axis grows. Slices make ranges, as in `mgrid`; numbers are vectors of one
  element. A leading string sets the axis, the least number of dimensions, and where the
  dimensions of arrays with fewer go: `"0,2"`, `"1,2,0"`; or `"r"`, `"c"` for a row or a
  column.

  >>> import gnomon.numpy as gnp
  >>> gnp.r_[1, 2, 5:8].tolist()
  [1, 2, 5, 6, 7]
  """)
c_ = _Joiner("c_", -1, 2, 0, """Puts vectors side by side, as columns.

  What stands between the brackets is concatenated along the last axis.

  >>> import gnomon.numpy as gnp
  >>> gnp.c_[gnp.array([1, 2]), gnp.array([3, 4])].tolist()
  [[1, 3], [2, 4]]
  """)
