"""Elementwise ops: arithmetic, comparisons, bits, exponentials, trigonometry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.testing.op_table import (
    BOOL,
    COMPLEX,
    FLOATS,
    INTEGERS,
    REALS,
    SIGNED,
    ErrorCase,
    Operand,
    OpRecord,
    Sample,
    elementwise_samples,
    op_table,
)

Op = Callable[..., Any]


def _add(
    name: str, arity: int, op: Op, reference: Op, *, low: float = -2.0,
    high: float = 2.0, domains: Any = None, dtypes: tuple[str, ...] = FLOATS + COMPLEX,
    **fields: Any) -> None:
  samples = elementwise_samples(arity, low, high, domains=domains)
  op_table.add(OpRecord(name, op, reference, samples, dtypes, **fields))


def _real_of(dtype: str) -> str:
  return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


# --- exponentials, powers, trigonometry ----------------------------------------------

# float16 and bfloat16 round large values coarsely: their domains stay small.
_SLACK: Mapping[str, float] = {
    "float32": 1e-5, "float64": 1e-13, "complex64": 2e-5, "complex128": 1e-13}

_add("exp", 1, lax.exp, np.exp, tolerance=_SLACK)
_add("exp2", 1, lax.exp2, np.exp2, tolerance=_SLACK)
_add("expm1", 1, lax.expm1, np.expm1, tolerance=_SLACK)
_add("log", 1, lax.log, np.log, low=0.3, high=4, tolerance=_SLACK)
_add("log1p", 1, lax.log1p, np.log1p, low=-0.6, high=4, tolerance=_SLACK)
_add("logistic", 1, lax.logistic, lambda x: 1 / (1 + np.exp(-x)), tolerance=_SLACK)
_add("sin", 1, lax.sin, np.sin, tolerance=_SLACK)
_add("cos", 1, lax.cos, np.cos, tolerance=_SLACK)
_add("tan", 1, lax.tan, np.tan, low=-1, high=1, tolerance=_SLACK)
_add("asin", 1, lax.asin, np.arcsin, low=-0.8, high=0.8, tolerance=_SLACK)
_add("acos", 1, lax.acos, np.arccos, low=-0.8, high=0.8, tolerance=_SLACK)
_add("atan", 1, lax.atan, np.arctan, low=-0.6, high=0.6, tolerance=_SLACK)
_add("sinh", 1, lax.sinh, np.sinh, tolerance=_SLACK)
_add("cosh", 1, lax.cosh, np.cosh, tolerance=_SLACK)
_add("tanh", 1, lax.tanh, np.tanh, tolerance=_SLACK)
_add("asinh", 1, lax.asinh, np.arcsinh, low=-0.6, high=0.6, tolerance=_SLACK)
_add("acosh", 1, lax.acosh, np.arccosh, low=1.4, high=4, tolerance=_SLACK)
_add("atanh", 1, lax.atanh, np.arctanh, low=-0.7, high=0.7, tolerance=_SLACK)
_add("sqrt", 1, lax.sqrt, np.sqrt, low=0.3, high=4, tolerance=_SLACK)
_add("rsqrt", 1, lax.rsqrt, lambda x: 1 / np.sqrt(x), low=0.3, high=4, tolerance=_SLACK)
_add("cbrt", 1, lax.cbrt, np.cbrt, low=0.3, high=4, dtypes=FLOATS, tolerance=_SLACK)
_add("square", 1, lax.square, np.square)
_add("reciprocal", 1, lax.reciprocal, lambda x: 1 / x, low=0.5, high=2,
     primitives=("integer_pow",))
_add("pow", 2, lax.pow, np.power, domains=[(0.4, 2), (-2, 2)], tolerance=_SLACK)
_add("atan2", 2, lax.atan2, np.arctan2, domains=[(0.3, 2), (-2, 2)], dtypes=FLOATS,
     tolerance=_SLACK)

for exponent in (-2, 0, 1, 3):
  op_table.add(OpRecord(
      f"integer_pow_{exponent}", lax.integer_pow,
      lambda x, *, y: np.power(x, float(y)),
      tuple(Sample(s.operands, {"y": exponent}, str(s))
            for s in elementwise_samples(1, 0.5, 2)),
      FLOATS, primitives=("integer_pow",), tolerance=_SLACK))

# --- arithmetic ----------------------------------------------------------------------

_NUMBERS = FLOATS + COMPLEX + INTEGERS

_add("neg", 1, lax.neg, np.negative, dtypes=FLOATS + COMPLEX + SIGNED)
_add("abs", 1, lax.abs, np.abs, low=0.2, dtypes=FLOATS + COMPLEX + SIGNED,
     result_dtype=_real_of)
_add("sign", 1, lax.sign, np.sign, dtypes=FLOATS + SIGNED)
_add("floor", 1, lax.floor, np.floor, dtypes=FLOATS)
_add("ceil", 1, lax.ceil, np.ceil, dtypes=FLOATS)
_add("round", 1, lax.round, lambda x: np.trunc(x + np.copysign(0.5, x)), dtypes=FLOATS)
_add("is_finite", 1, lax.is_finite, np.isfinite, dtypes=FLOATS, result_dtype="bool",
     order=0)
_add("add", 2, lax.add, np.add, dtypes=_NUMBERS)
_add("sub", 2, lax.sub, np.subtract, dtypes=FLOATS + COMPLEX + SIGNED)
_add("mul", 2, lax.mul, np.multiply, dtypes=_NUMBERS)
_add("div", 2, lax.div, np.divide, domains=[(-2, 2), (0.5, 2)])
_add("div_integers", 2, lax.div, lambda x, y: np.trunc(x / y), dtypes=INTEGERS,
     domains=[(-20, 20), (1, 5)], primitives=("div",))
_add("rem", 2, lax.rem, np.fmod, domains=[(-2, 2), (0.7, 0.9)], dtypes=REALS, order=1)
_add("rem_integers", 2, lax.rem, np.fmod, domains=[(-20, 20), (1, 5)], dtypes=INTEGERS,
     primitives=("rem",))
_add("nextafter", 2, lax.nextafter, np.nextafter, dtypes=("float64",), order=0)

for name, op, reference in (("max", lax.max, np.maximum), ("min", lax.min, np.minimum)):
  # Two ranges that overlap a little: no ties, and either operand wins somewhere.
  _add(name, 2, op, reference, domains=[(-2, 0.5), (0.4, 2)],
       dtypes=FLOATS + INTEGERS)

op_table.add(OpRecord(
    "clamp", lax.clamp, lambda low, x, high: np.minimum(np.maximum(x, low), high),
    (Sample((Operand((3,), -1, -0.9), Operand((3,), distinct=True),
             Operand((3,), 0.9, 1))),
     Sample((Operand((), -1, -0.9), Operand((2, 4), distinct=True),
             Operand((), 0.9, 1)))),
    FLOATS))

# --- comparisons and bits ------------------------------------------------------------

for name, op, compare in (
    ("eq", lax.eq, np.equal), ("ne", lax.ne, np.not_equal), ("lt", lax.lt, np.less),
    ("le", lax.le, np.less_equal), ("gt", lax.gt, np.greater),
    ("ge", lax.ge, np.greater_equal)):
  _add(name, 2, op, compare, dtypes=FLOATS + INTEGERS, result_dtype="bool", order=0)

_BITS = INTEGERS + BOOL
_add("not", 1, lax.bitwise_not, np.invert, dtypes=_BITS, order=0)
_add("and", 2, lax.bitwise_and, np.bitwise_and, high=60, dtypes=_BITS, order=0)
_add("or", 2, lax.bitwise_or, np.bitwise_or, high=60, dtypes=_BITS, order=0)
_add("xor", 2, lax.bitwise_xor, np.bitwise_xor, high=60, dtypes=_BITS, order=0)
_add("shift_left", 2, lax.shift_left, np.left_shift, domains=[(0, 7), (0, 3)],
     dtypes=INTEGERS, order=0)
_add("shift_right_arithmetic", 2, lax.shift_right_arithmetic, np.right_shift,
     domains=[(-60, 60), (0, 3)], dtypes=SIGNED, order=0)
_add("shift_right_logical", 2, lax.shift_right_logical, np.right_shift,
     domains=[(0, 60), (0, 3)], dtypes=INTEGERS, order=0)


def _count_bits(x: Any) -> Any:
  return np.bitwise_count(x.view(f"uint{8 * x.dtype.itemsize}")).astype(x.dtype)


def _leading_zeros(x: Any) -> Any:
  width = 8 * x.dtype.itemsize
  patterns = x.view(f"uint{width}")
  return np.vectorize(lambda v: width - int(v).bit_length(), otypes=[x.dtype])(patterns)


_add("population_count", 1, lax.population_count, _count_bits, low=-60, high=60,
     dtypes=INTEGERS, order=0)
_add("clz", 1, lax.clz, _leading_zeros, low=-60, high=60, dtypes=INTEGERS, order=0)

op_table.structured(
    "packages/gnomon-lax/tests/test_bits.py", "mulhi", "bitcast_convert_type")
op_table.structured(
    "packages/gnomon-lax/tests/test_arithmetic.py", "eq_to", "lt_to", "le_to")
op_table.structured(
    "packages/gnomon-lax/tests/test_elementwise.py", "reduce_precision")

# --- complex numbers and choice ------------------------------------------------------

_add("real", 1, lax.real, np.real, dtypes=COMPLEX, result_dtype=_real_of)
_add("imag", 1, lax.imag, np.imag, dtypes=COMPLEX, result_dtype=_real_of)
_add("conj", 1, lax.conj, np.conj, dtypes=COMPLEX)
_add("complex", 2, lax.complex, lambda x, y: x + 1j * y, dtypes=REALS,
     result_dtype=lambda dtype: {"float32": "complex64"}.get(dtype, "complex128"))


def _select(which: Any, *cases: Any) -> Any:
  return np.choose(which.astype(int), cases)


op_table.add(OpRecord(
    "select_n", lax.select_n, _select,
    (Sample((Operand((), dtype="bool"), Operand((2,)), Operand((2,))), label="scalar"),
     Sample((Operand((2, 3), dtype="bool"), Operand((2, 3)), Operand((2, 3)))),
     Sample((Operand((4,), 0, 2, dtype="int32"),
             *[Operand((4,)) for _ in range(3)]), label="three")),
    FLOATS + COMPLEX + ("int32", "bool"),
    errors=(ErrorCase(
        lambda: (np.ones(3, bool), np.ones(2, "float32"), np.ones(2, "float32")),
        TypeError, "shape"),)))
