"""How to call each function of `gnomon.numpy` on arrays of any dtype and shape.

A call takes the module, NumPy's or ours, and arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np


class Row(NamedTuple):
  """A function, what it is called on, and what is not to be asked of it."""

  call: Callable[..., Any]
  kinds: str = "biufc"  # of dtypes: bools, signed and unsigned integers, floats, complex
  arity: int = 1
  ranks: tuple[int, int] = (0, 4)  # the least and the greatest
  axes: bool = False  # whether `call` takes an axis after the arrays
  smooth: bool = False  # whether it has a derivative
  nan: bool = True  # whether nan and infinities agree with NumPy's
  dtype: str = "numpy"  # whose the result's is: NumPy's, "argument", "float", or "any"
  empty: bool = True  # whether arrays without elements are taken


def _plain(name: str) -> Callable[..., Any]:
  return lambda m, *args: getattr(m, name)(*args)


def _axis(name: str) -> Callable[..., Any]:
  return lambda m, *args: getattr(m, name)(*args[:-1], axis=args[-1])


def _rows() -> Iterator[tuple[str, Row]]:
  for kinds, arity, smooth, names in (
      ("biufc", 1, True, "abs absolute square real imag"),
      ("iufc", 1, True, "positive negative sign"), ("fc", 1, True, "reciprocal"),
      ("iufc", 1, True, "conj conjugate"),
      ("biufc", 1, False, """isfinite isinf isnan iscomplex isreal logical_not angle
       iscomplexobj isrealobj ndim shape size"""),
      ("biuf", 1, False, "signbit isneginf isposinf"),
      ("iuf", 1, False, "floor ceil trunc rint round around"), ("iuf", 1, True, "fabs"),
      ("biu", 1, False, "invert bitwise_invert bitwise_not"),
      ("iu", 1, False, "bitwise_count"),
      ("iufc", 1, True, """exp exp2 expm1 log log10 log1p log2 sqrt sin cos tan sinh cosh
       tanh arcsin arccos arctan arcsinh arccosh arctanh asin acos atan asinh acosh atanh
       sinc"""),
      ("iuf", 1, True, "cbrt deg2rad rad2deg degrees radians i0"),
      ("f", 1, False, "spacing"),
      ("biufc", 2, True, "add multiply true_divide divide"),
      ("iufc", 2, True, "subtract"),
      ("f", 2, True, "power pow"),
      ("iuf", 2, False, "floor_divide remainder mod"), ("iuf", 2, False, "fmod divmod"),
      ("biuf", 2, True, "maximum minimum fmax fmin"),
      ("f", 2, True, "arctan2 atan2 hypot logaddexp logaddexp2 copysign"),
      ("f", 2, False, "nextafter heaviside"),
      ("biu", 2, False, "bitwise_and bitwise_or bitwise_xor"),
      ("biufc", 2, False, """logical_and logical_or logical_xor equal not_equal isclose
       allclose array_equal array_equiv"""),
      ("biuf", 2, False, "greater greater_equal less less_equal"),
      ("iu", 2, False, "gcd lcm")):
    for name in names.split():
      yield name, Row(_plain(name), kinds, arity, smooth=smooth)
  for kinds, smooth, names in (
      ("iufc", True, "sum mean var std nansum nanmean nanvar nanstd prod nanprod"),
      ("iufc", True, "cumsum nancumsum cumprod nancumprod"),
      ("biufc", False, "all any count_nonzero"),
      ("biuf", True, "max min amax amin"), ("iuf", True, "ptp nanmax nanmin"),
      ("biuf", False, "argmax argmin"), ("iuf", False, "nanargmax nanargmin"),
      ("iuf", True, "median nanmedian")):
    for name in names.split():
      yield name, Row(_axis(name), kinds, ranks=(1, 4), axes=True, smooth=smooth,
                      dtype="argument" if "cum" in name else "numpy")
  for kinds, names in (
      ("biufc", "flip roll1 repeat2 expand_dims delete0 insert1 stack2 concatenate2"),
      ("biuf", "sort argsort"), ("iufc", "cumulative_sum cumulative_prod trapezoid diff"),
      ("biufc", "unstack split1 array_split2 append2 take1 compress1 moveaxis1")):
    for name in names.split():
      call = _SHAPED.get(name, _axis(name))
      yield name.rstrip("012"), Row(
          call, kinds, ranks=(1, 4), axes=True, smooth=name != "argsort")
  for name, row in _OTHER.items():
    yield name, row


_SHAPED: dict[str, Callable[..., Any]] = {
    "roll1": lambda m, x, a: m.roll(x, 1, axis=a),
    "repeat2": lambda m, x, a: m.repeat(x, 2, axis=a),
    "delete0": lambda m, x, a: m.delete(x, slice(0, 1), axis=a),
    "insert1": lambda m, x, a: m.insert(x, 0, 1, axis=a),
    "stack2": lambda m, x, a: m.stack([x, x], axis=a),
    "concatenate2": lambda m, x, a: m.concatenate([x, x], axis=a),
    "split1": lambda m, x, a: m.split(x, [1], axis=a),
    "array_split2": lambda m, x, a: m.array_split(x, 2, axis=a),
    "append2": lambda m, x, a: m.append(x, x, axis=a),
    "take1": lambda m, x, a: m.take(x, np.zeros((2, 1), int), axis=a, mode="clip"),
    "compress1": lambda m, x, a: m.compress(np.array([True]), x, axis=a),
    "moveaxis1": lambda m, x, a: m.moveaxis(x, a, 0),
}
_ALL, _REAL, _FLOATS, _INTS = "biufc", "biuf", "f", "iu"
_MATRIX, _SQUARE, _VECTOR = (2, 4), (2, 2), (1, 1)
_OTHER: dict[str, Row] = {
    **{name: Row(_plain(name), _ALL, smooth=True) for name in (
        "ravel", "transpose", "atleast_1d", "atleast_2d", "atleast_3d", "squeeze",
        "zeros_like", "ones_like", "asarray", "array", "copy")},
    **{name: Row(_plain(name), _ALL, ranks=_MATRIX, smooth=True) for name in (
        "fliplr", "flipud", "rot90", "matrix_transpose", "tril", "triu", "diagonal",
        "trace")},
    **{name: Row(_plain(name), _ALL, arity=2, ranks=(1, 3), smooth=True) for name in (
        "outer", "inner", "kron")},
    **{name: Row(_plain(name), _ALL, ranks=_VECTOR, smooth=True)
       for name in ("diag", "diagflat")},
    **{name: Row(_plain(name), "f", ranks=_VECTOR, nan=False, dtype="argument")
       for name in ("vander", "poly", "polyder", "polyint")},
    "float_power": Row(_plain("float_power"), "f", 2, smooth=True, dtype="argument"),
    **{name: Row(_plain(name), _REAL, ranks=(0, 4), nan=False)
       for name in ("unique", "argwhere", "flatnonzero")},
    "unique_values": Row(lambda m, x: m.sort(m.unique_values(x)), _REAL, nan=False),
    **{name: Row(_plain(name), _REAL, arity=2, ranks=(0, 2), nan=False)
       for name in ("intersect1d", "setdiff1d", "union1d", "isin")},
    "setxor1d": Row(_plain("setxor1d"), _REAL, 2, (1, 1), nan=False),
    "nonzero": Row(_plain("nonzero"), _ALL, ranks=(1, 4)),
    "unique_all": Row(lambda m, x: tuple(m.unique_all(x)), _REAL, nan=False),
    "unique_counts": Row(
        lambda m, x: _by_value(m, *m.unique_counts(x)), _REAL, nan=False),
    "unique_inverse": Row(lambda m, x: tuple(m.unique_inverse(x)), _REAL, nan=False),
    "nan_to_num": Row(lambda m, x: m.nan_to_num(x, nan=1.0, posinf=2.0, neginf=3.0),
                      "fc"),
    "clip": Row(lambda m, x: m.clip(x, 0, 1), "iuf", smooth=True),
    "modf": Row(_plain("modf"), _FLOATS),
    "frexp": Row(_plain("frexp"), _FLOATS, nan=False),
    "ldexp": Row(lambda m, x: m.ldexp(x, 2), _FLOATS, smooth=True),
    "left_shift": Row(lambda m, x: m.left_shift(x, m.ones_like(x)), _INTS),
    "right_shift": Row(lambda m, x: m.right_shift(x, m.ones_like(x)), _INTS),
    "bitwise_left_shift": Row(
        lambda m, x: m.bitwise_left_shift(x, m.ones_like(x)), _INTS),
    "bitwise_right_shift": Row(
        lambda m, x: m.bitwise_right_shift(x, m.ones_like(x)), _INTS),
    "where": Row(lambda m, x, y: m.where(x, x, y), _ALL, 2, smooth=True),
    "select": Row(lambda m, x, y: m.select([x > 0, y > 0], [x, y], 0), _REAL, 2),
    "choose": Row(lambda m, x: m.choose(
        (x > 0).astype(np.int32), [x, x + x], mode="clip"), _ALL),
    "extract": Row(lambda m, x: m.extract(x > 0, x), _REAL),
    "piecewise": Row(lambda m, x: m.piecewise(x, [x < 0], [0, 1]), "iuf"),
    "reshape": Row(lambda m, x: m.reshape(x, (-1, 1)), _ALL, smooth=True),
    "resize": Row(lambda m, x: m.resize(x, (2, 3)), _ALL, ranks=(1, 4)),
    "tile": Row(lambda m, x: m.tile(x, (2, 1)), _ALL, smooth=True),
    "broadcast_to": Row(lambda m, x: m.broadcast_to(x, (2, *x.shape)), _ALL, smooth=True),
    "broadcast_arrays": Row(
        lambda m, x, y: list(m.broadcast_arrays(x, y)), _ALL, 2, smooth=True),
    "swapaxes": Row(lambda m, x: m.swapaxes(x, 0, -1), _ALL, ranks=(1, 4), smooth=True),
    "rollaxis": Row(lambda m, x: m.rollaxis(x, -1), _ALL, ranks=(1, 4), smooth=True),
    "permute_dims": Row(
        lambda m, x: m.permute_dims(x, tuple(range(x.ndim))[::-1]), _ALL, smooth=True),
    "block": Row(lambda m, x: m.block([x, x]), _ALL, smooth=True),
    "column_stack": Row(lambda m, x: m.column_stack([x, x]), _ALL, ranks=(1, 4)),
    "concat": Row(lambda m, x, y: m.concat([x, y]), _ALL, 2, (1, 4), smooth=True),
    "hstack": Row(lambda m, x: m.hstack([x, x]), _ALL), "vstack": Row(
        lambda m, x: m.vstack([x, x]), _ALL),
    "dstack": Row(lambda m, x: m.dstack([x, x]), _ALL),
    "hsplit": Row(lambda m, x: m.hsplit(x, [1]), _ALL, ranks=(1, 4)),
    "vsplit": Row(lambda m, x: m.vsplit(x, [1]), _ALL, ranks=(2, 4)),
    "dsplit": Row(lambda m, x: m.dsplit(x, [1]), _ALL, ranks=(3, 4)),
    "pad": Row(lambda m, x: m.pad(x, 1), _ALL, smooth=True),
    "ediff1d": Row(_plain("ediff1d"), "iufc", smooth=True),
    "gradient": Row(_plain("gradient"), "fc", ranks=(1, 3), smooth=True),
    "unwrap": Row(lambda m, x: m.unwrap(x, axis=0), _FLOATS, ranks=(1, 4), nan=False),
    "average": Row(_plain("average"), "iufc", smooth=True),
    "quantile": Row(lambda m, x: m.quantile(x, 0.3), "iuf", smooth=True, nan=False),
    "percentile": Row(lambda m, x: m.percentile(x, 30.0), "iuf", smooth=True, nan=False),
    "nanquantile": Row(lambda m, x: m.nanquantile(x, 0.3), "iuf", nan=False),
    "nanpercentile": Row(lambda m, x: m.nanpercentile(x, 30.0), "iuf", nan=False),
    "partition": Row(lambda m, x: m.sort(m.partition(x, 0), -1), "iuf", ranks=(1, 4),
                     empty=False),
    "sort_complex": Row(_plain("sort_complex"), "c", ranks=(1, 1)),
    "lexsort": Row(lambda m, x, y: m.lexsort((x, y)), _REAL, 2, (1, 2)),
    "searchsorted": Row(
        lambda m, x, y: m.searchsorted(m.sort(x, None), y), "iuf", 2, nan=False),
    "digitize": Row(lambda m, x: m.digitize(x, np.array([0, 1])), "iuf", nan=False),
    "dot": Row(_plain("dot"), _ALL, 2, (0, 1), smooth=True),
    "vdot": Row(_plain("vdot"), _ALL, 2, (0, 3), smooth=True),
    "vecdot": Row(_plain("vecdot"), _ALL, 2, (1, 4), smooth=True),
    "matmul": Row(lambda m, x, y: m.matmul(x, m.matrix_transpose(y)), _ALL, 2, _MATRIX,
                  smooth=True),
    "matvec": Row(lambda m, x, y: m.matvec(x, y[0]), _ALL, 2, (2, 2), smooth=True),
    "vecmat": Row(lambda m, x, y: m.vecmat(x[:, 0], y), _ALL, 2, (2, 2), smooth=True),
    "tensordot": Row(lambda m, x, y: m.tensordot(x, y, 1 if x.ndim == 1 else (
        (0,), (0,))), _ALL, 2, (1, 3), smooth=True),
    "einsum": Row(lambda m, x, y: m.einsum("...i,...i->...", x, y), "iufc", 2, (1, 3),
                  smooth=True),
    "cross": Row(lambda m, x, y: m.cross(x, y), "iufc", 2, (1, 1), smooth=True),
    "convolve": Row(_plain("convolve"), "iuf", 2, _VECTOR, smooth=True, nan=False,
                    dtype="float"),
    "correlate": Row(_plain("correlate"), "iuf", 2, _VECTOR, smooth=True, nan=False,
                     dtype="float"),
    "interp": Row(lambda m, x: m.interp(x, np.arange(3.0), np.arange(3.0) ** 2), "iuf",
                  nan=False),
    "cov": Row(_plain("cov"), "f", ranks=(1, 2), smooth=True, dtype="argument"),
    "corrcoef": Row(_plain("corrcoef"), "f", ranks=(2, 2), nan=False, dtype="argument"),
    "bincount": Row(lambda m, x: m.bincount(abs(x)), "u", ranks=_VECTOR),
    "histogram": Row(lambda m, x: m.histogram(x, 3, (-4, 4)), "iuf", nan=False,
                     dtype="any"),
    "histogram_bin_edges": Row(
        lambda m, x: m.histogram_bin_edges(x, 3, (-4, 4)), "iuf", nan=False),
    "histogram2d": Row(lambda m, x, y: m.histogram2d(x, y, 2, ((-4, 4), (-4, 4))), "iuf",
                       2, _VECTOR, nan=False, dtype="any"),
    "histogramdd": Row(lambda m, x: m.histogramdd(x, 2, [(-4, 4)] * x.shape[1]), "iuf",
                       ranks=_SQUARE, nan=False, dtype="any"),
    "packbits": Row(_plain("packbits"), "b", ranks=(1, 4)),
    "unpackbits": Row(lambda m, x: m.unpackbits(x.astype(np.uint8)), "b", ranks=(1, 3)),
    "take_along_axis": Row(lambda m, x: m.take_along_axis(
        x, np.zeros((*x.shape[:-1], 1), int), -1), _ALL, ranks=(1, 3), smooth=True),
    "put": Row(lambda m, x: _changed(m, "put", x, np.array([0]), np.array([1])), _ALL,
               ranks=(1, 3)),
    "place": Row(lambda m, x: _changed(m, "place", x, x > 0, np.array([1])), _REAL,
                 ranks=(1, 3)),
    "fill_diagonal": Row(
        lambda m, x: _changed(m, "fill_diagonal", x, 1), _ALL, ranks=_SQUARE),
    "trim_zeros": Row(_plain("trim_zeros"), "iuf", ranks=_VECTOR),
    "argpartition": Row(lambda m, x: m.take_along_axis(
        x, m.argpartition(x, 0), -1)[..., :1], "iuf", ranks=(1, 3), nan=False,
        empty=False),
    "apply_along_axis": Row(
        lambda m, x: m.apply_along_axis(lambda v: v[::-1], 0, x), _ALL, ranks=(1, 3)),
    "apply_over_axes": Row(
        lambda m, x: m.apply_over_axes(m.sum, x, [0]), "iuf", ranks=(1, 3)),
    "vectorize": Row(lambda m, x: m.vectorize(lambda v: v + v)(x), "iuf"),
    "polyval": Row(lambda m, x: m.polyval(x, 2.0), "f", ranks=_VECTOR, nan=False,
                   dtype="argument"),
    "full_like": Row(lambda m, x: m.full_like(x, 1), _ALL),
    "meshgrid": Row(lambda m, x, y: list(m.meshgrid(x, y)), _ALL, 2, _VECTOR,
                    smooth=True),
    "ix_": Row(lambda m, x: m.ix_(x, x), _INTS, ranks=_VECTOR),
    "linspace": Row(lambda m, x, y: m.linspace(x, y, 3), "fc", 2, (0, 3), smooth=True,
                    nan=False),
    "logspace": Row(lambda m, x, y: m.logspace(x, y, 3, base=2.0), "f", 2, (0, 2),
                    nan=False),
    "tril_indices_from": Row(_plain("tril_indices_from"), _ALL, ranks=_SQUARE),
    "triu_indices_from": Row(_plain("triu_indices_from"), _ALL, ranks=_SQUARE),
    "isscalar": Row(_plain("isscalar"), _ALL, ranks=(1, 4)),
    "iterable": Row(_plain("iterable"), _ALL),
    "astype": Row(lambda m, x: m.astype(x, np.float32), _REAL),
    "geomspace": Row(lambda m, x, y: m.geomspace(1 + x * x, 2 + y * y, 3), "f", 2, (0, 2),
                     nan=False, dtype="argument"),
}


def _by_value(m: Any, found: Any, counts: Any) -> Any:
  """Pairs in the order of values, which NumPy leaves open."""
  order = m.argsort(found)
  return found[order], counts[order]


def _changed(m: Any, name: str, x: Any, *args: Any) -> Any:
  """What a function makes of an array that NumPy changes in place."""
  if m is not np:
    return getattr(m, name)(x, *args, inplace=False)
  x = np.array(x)
  getattr(np, name)(x, *args)
  return x


def _put_along(m: Any, x: Any) -> Any:
  at, value = np.zeros((*x.shape[:-1], 1), int), x.dtype.type(1)
  if m is not np:
    return m.put_along_axis(x, at, value, -1, inplace=False)
  x = np.array(x)
  np.put_along_axis(x, at, value, -1)
  return x


TABLE = dict(_rows())
TABLE["put_along_axis"] = Row(_put_along, "biufc", ranks=(1, 3))

# Functions that take no arrays, or that cannot be called on any: tests name them.
ELSEWHERE = frozenset("""
  arange array_repr array_str bartlett blackman broadcast_shapes can_cast diag_indices
  diag_indices_from einsum_path empty empty_like eye from_dlpack frombuffer fromfunction
  frompyfunc fromstring full hamming hanning identity indices isdtype issubdtype kaiser
  load mask_indices ones polyadd polydiv polyfit polymul polysub promote_types
  ravel_multi_index result_type roots save savez tri tril_indices triu_indices
  unravel_index zeros""".split())  # noqa: SIM905 -- thirty strings are no easier to read
# Refused; NumPy's own.
NO_VALUES = {
    "fromfile", "fromiter", "get_printoptions", "printoptions", "set_printoptions"}
