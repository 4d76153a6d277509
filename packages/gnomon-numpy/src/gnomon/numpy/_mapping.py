"""Functions of parts of arrays, mapped over the rest: `vectorize` and its like."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Sequence
from operator import index
from typing import Any

from gnomon import vmap
from gnomon.core.types import typeof
from gnomon.numpy._compiled import freeze
from gnomon.numpy._conversion import asarray
from gnomon.numpy._promotion import (
  broadcast_shapes,
  canonical_axis,
  check_rank_promotion,
)
from gnomon.numpy._shape import expand_dims, squeeze
from gnomon.numpy._values import one_array

Core = tuple[str, ...]
_NAME = r"\w+"
_DIMS = rf"(?:{_NAME}(?:,{_NAME})*)?"
_GROUP = rf"\({_DIMS}\)"
_SIGNATURE = re.compile(rf"({_GROUP}(?:,{_GROUP})*)?->({_GROUP}(?:,{_GROUP})*)")


def _parse(signature: str) -> tuple[list[Core], list[Core]]:
  """The core dimensions of arguments and of results."""
  found = _SIGNATURE.fullmatch(re.sub(r"\s+", "", signature))
  if not found:
    raise ValueError(
        f"not a valid gufunc signature: {signature!r}; write the core dimensions of "
        "arguments and results in parentheses, as in '(m,k),(k,n)->(m,n)'")

  def cores(text: str | None) -> list[Core]:
    groups = re.findall(rf"\(({_DIMS})\)", text or "")
    return [tuple(g.split(",")) if g else () for g in groups]

  return cores(found[1]), cores(found[2])


def _check_excluded(excluded: Collection[int | str]) -> None:
  for e in excluded:
    if isinstance(e, bool) or not isinstance(e, (int, str)):
      raise TypeError(
          "jax.numpy.vectorize can only exclude integer or string arguments, but "
          f"excluded={excluded!r}: give positions and names")
  if any(isinstance(e, int) and e < 0 for e in excluded):
    raise ValueError(
        f"vectorize: excluded={excluded!r} contains negative numbers; positions count "
        "from 0")


def vectorize(
    pyfunc: Callable[..., Any], *, excluded: Collection[int | str] = frozenset(),
    signature: str | None = None) -> Callable[..., Any]:
  """A function of scalars, or of arrays of known dimensions, mapped over all others.

  Leading dimensions of the arguments broadcast by NumPy's rule. It is made of `vmap`, so
  it runs at the speed of a function written for arrays.

  Args:
    pyfunc: a function of arrays.
    excluded: positions and names of arguments that are passed as they are. Arguments that
      are None are, too.
    signature: the dimensions that `pyfunc` sees, as `"(m,n),(n)->(m)"`; by default none.

  >>> import gnomon.numpy as gnp
  >>> mean = gnp.vectorize(gnp.mean, signature="(n)->()")
  >>> mean(gnp.array([[1.0, 2.0], [3.0, 5.0]])).tolist()
  [1.5, 4.0]

  Raises:
    TypeError: something excluded is neither a position nor a name; later, there are not
      as many arguments as in the signature.
    ValueError: the signature cannot be understood; later, shapes do not fit it.
  """
  _check_excluded(excluded)
  cores = None if signature is None else _parse(signature)
  where = f"on vectorized function with excluded={excluded!r} and signature={signature!r}"

  @functools.wraps(pyfunc, assigned=("__name__", "__qualname__", "__doc__", "__module__"),
                   updated=())
  def wrapped(*args: Any, **kwargs: Any) -> Any:
    fixed = {i for i, x in enumerate(args) if x is None or i in excluded}
    mapped = [asarray(x) for i, x in enumerate(args) if i not in fixed]
    names = [k for k in kwargs if k not in excluded and kwargs[k] is not None]
    named = [asarray(kwargs[k]) for k in names]

    def fun(*values: Any) -> Any:
      rest = iter(values)
      full = [x if i in fixed else next(rest) for i, x in enumerate(args)]
      return pyfunc(*full, **{**kwargs, **dict(zip(names, rest))})

    inputs, outputs = ([()] * len(mapped), None) if cores is None else cores
    absent = {i for i in fixed if args[i] is None and i not in excluded}
    if absent and cores is not None:
      raise ValueError(
          f"Cannot pass None at locations {absent} with signature={signature!r}: the "
          "signature says what is mapped; put those positions into excluded")
    if len(inputs) != len(mapped):
      raise TypeError(
          f"wrong number of positional arguments: expected {len(inputs)}, got "
          f"{len(mapped)} {where}")
    inputs = [*inputs, *[()] * len(named)]
    return _mapped(fun, [*mapped, *named], inputs, outputs, where)

  return wrapped


def _mapped(
    fun: Callable[..., Any], args: list[Any], inputs: Sequence[Core],
    outputs: Sequence[Core] | None, where: str) -> Any:
  """Maps a function over the leading dimensions of its arguments."""
  sizes: dict[str, int] = {}
  leads = []
  for x, core in zip(args, inputs):
    shape = typeof(x).shape
    n = len(shape) - len(core)
    if n < 0:
      raise ValueError(
          f"input with shape {shape} does not have enough dimensions for all core "
          f"dimensions {core} {where}")
    _note_sizes(sizes, core, shape[n:], where)
    leads.append(shape[:n])
  if len({len(s) for s in leads if s}) > 1:
    check_rank_promotion(
        "operands with shapes "
        f"{', '.join(str(typeof(x).shape) for x in args)} require rank promotion {where}")
  lead = broadcast_shapes("vectorize", *leads)
  checked = _checked(fun, sizes, outputs, where) if outputs is not None else fun
  # Size-1 axes are taken off: what is the same for all is not mapped.
  axes: list[list[int | None]] = []
  for i, (x, own) in enumerate(zip(args, leads)):
    missing = len(lead) - len(own)
    keep = [None] * missing + [0 if m == n else None for m, n in zip(own, lead[missing:])]
    ones = [d for d, n in enumerate(own) if keep[missing + d] is None]
    args[i] = squeeze(x, ones) if ones else x
    axes.append(keep)
  for d in range(len(lead) - 1, -1, -1):
    in_axes = tuple(keep[d] for keep in axes)
    if all(a is None for a in in_axes):
      checked = vmap(checked, in_axes=in_axes, axis_size=lead[d])
    else:
      checked = vmap(checked, in_axes=in_axes)
  return checked(*args)


def _note_sizes(sizes: dict[str, int], core: Core, shape: Sequence[int],
    where: str) -> None:
  for name, n in zip(core, shape):
    if sizes.setdefault(name, n) != n:
      raise ValueError(
          f"inconsistent size for core dimension {name!r}: {n} vs {sizes[name]} {where}")
    if name.isdigit() and int(name) != n:
      raise ValueError(f"core dimension {name} has the size {n} {where}")


def _checked(
    fun: Callable[..., Any], sizes: dict[str, int], outputs: Sequence[Core],
    where: str) -> Callable[..., Any]:
  """The function with its results compared with the signature."""

  def wrapped(*args: Any) -> Any:
    out = fun(*args)
    values = out if isinstance(out, (tuple, list)) else (out,)
    if len(outputs) > 1 and not isinstance(out, (tuple, list)):
      raise TypeError(
          f"output must be a tuple when multiple outputs are expected, got: {out!r} "
          f"{where}")
    if len(values) != len(outputs):
      raise TypeError(
          f"wrong number of output arguments: expected {len(outputs)}, got {len(values)} "
          f"{where}")
    known = dict(sizes)
    for value, core in zip(values, outputs):
      shape = typeof(value).shape
      if len(shape) != len(core):
        raise ValueError(
            f"output shape {shape} does not match core dimensions {core} {where}")
      _note_sizes(known, core, shape, where)
    return out

  return wrapped


# ---- along and over axes


def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
  """A function of vectors, applied to all of them along an axis.

  Args:
    func1d: a function `f(vector, *args, **kwargs)`; its result takes the place of the
      axis.
    axis: along which the vectors lie.
    arr: an array of at least one dimension.
    args: more arguments of the function, passed as they are.
    kwargs: the same.

  >>> import gnomon.numpy as gnp
  >>> gnp.apply_along_axis(gnp.sum, 0, gnp.ones((2, 3))).tolist()
  [2.0, 2.0, 2.0]

  Raises:
    TypeError: `arr` is no array and no number.
    ValueError: the axis is out of range.
  """
  x = one_array("apply_along_axis", arr)
  n = typeof(x).ndim
  axis = canonical_axis(axis, n, "apply_along_axis")

  def fun(row: Any) -> Any:
    return func1d(row, *args, **kwargs)

  for _ in range(axis + 1, n):
    fun = vmap(fun, in_axes=-1, out_axes=-1)
  for _ in range(axis):
    fun = vmap(fun)
  return fun(x)


def apply_over_axes(func: Callable[[Any, int], Any], a: Any, axes: Any) -> Any:
  """A function of an array and an axis, applied for one axis after another.

  Args:
    func: a function `f(array, axis)`; an axis that it removes is put back, with size 1.
    a: an array.
    axes: an axis, or several.

  >>> import gnomon.numpy as gnp
  >>> gnp.apply_over_axes(gnp.sum, gnp.ones((2, 3)), (0, 1)).tolist()
  [[6.0]]

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: an axis is out of range, or the function changes the number of dimensions
      otherwise.
  """
  x = one_array("apply_over_axes", a)
  n = typeof(x).ndim
  axes = freeze(axes)
  for d in (axes,) if hasattr(axes, "__index__") else axes:
    axis = canonical_axis(index(d), n, "apply_over_axes")
    out = func(x, axis)
    if typeof(out).ndim == n - 1:
      out = expand_dims(out, axis)
    if typeof(out).ndim != n:
      raise ValueError(
          "apply_over_axes: the function must keep the number of dimensions, or remove "
          f"the axis: for the shape {typeof(x).shape} and axis {axis} it gave "
          f"{typeof(out).shape}")
    x = out
  return x
