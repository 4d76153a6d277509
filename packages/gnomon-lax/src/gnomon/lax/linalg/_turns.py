"""Derivatives of functions of eigenvectors where eigenvalues are repeated.

The vectors of a repeated eigenvalue have no derivative: they may be any basis of a space,
and a change of the matrix chooses one. What does not depend on the choice may still have
a derivative, as `f(a) = v diag(f(w)) v^H` has: with `p = v^H da v` it is

    v (p ∘ d) v^H,   d_ij = (f(w_j) - f(w_i)) / (w_j - w_i), or f'(w_i) if they are equal

(Y. L. Daleckii, S. G. Krein, 1965). Of that the chain rule finds the elements between
different eigenvalues, in the turning of vectors, and the diagonal, in the motion of
eigenvalues. The others, `p_ij f'(w_i)`, are in no derivative of `v` or of `w`: they are a
second derivative, by a turn of the vectors *and* by the eigenvalues.

So while a function is linearised, what becomes of vectors and eigenvalues is followed.
Beside the tangent of such a value stand its derivatives

    slope   in the eigenvalue of its index (known: of the point alone),
    turn    along `v p / 2`, where p is taken between equal eigenvalues,
    mixed   in both,

and `axes`, which say where the index of the eigenvalue is. The mixed derivative of a
product is `mixed y + x mixed + turn slope + slope turn`. Where the index is summed over,
the vectors are gone, and the mixed derivative joins the tangent: of `v diag(f(w)) v^H` it
is `v (p_ij (f'(w_i) + f'(w_j)) / 2) v^H`. What is not known here (another primitive, two
indices of vectors in one array) ends the pursuit, and the tangent stays the usual one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gnomon.core.derive import (
  add_any_p,
  broadcast_in_dim_p,
  grow,
  reduce_sum_p,
  slice_p,
  transpose_p,
)
from gnomon.core.primitive import Primitive
from gnomon.core.rule import jvp_rule
from gnomon.core.stage import StageTracer
from gnomon.core.structural import (
  add_tangents,
  convert_element_type_p,
  copy_p,
  real_p,
  reshape_p,
  select_n_p,
  squeeze_p,
  zeros_like_aval,
)
from gnomon.core.trace import get_current
from gnomon.core.types import typeof
from gnomon.core.zero import Zero
from gnomon.lax._arithmetic import add_p, div, div_p, mul, mul_p, neg, neg_p, sub_p
from gnomon.lax._complex import conj_p, imag_p
from gnomon.lax._dot import dot_general_p
from gnomon.lax._indexing import GatherDimensionNumbers, gather_p
from gnomon.lax._shape import rev_p
from gnomon.transform.linearize import SplitTrace

Axes = tuple[int, ...]
Params = dict[str, Any]


class Course(NamedTuple):
  """What is known of a value that eigenvectors or eigenvalues went into."""

  axes: Axes
  slope: Any = None
  turn: Any = None
  mixed: Any = None

  def through(self, f: Callable[[Any], Any], axes: Axes) -> Course:
    """That of a linear function of the value."""
    return Course(axes, *(None if x is None else f(x) for x in self[1:]))


def follow(courses: Sequence[tuple[Any, Course]]) -> None:
  """Begins to follow values with these tangents, if this is a linearisation."""
  trace = get_current()
  if type(trace) is not SplitTrace:
    return
  if trace.follower is None:
    trace.follower = Pursuit()
  if isinstance(trace.follower, Pursuit):
    for tangent, course in courses:
      trace.follower.note(tangent, course)


class Pursuit:
  """The courses of values, by the variables of their tangents."""

  __slots__ = ("courses",)

  def __init__(self) -> None:
    self.courses: dict[Any, Course] = {}

  def note(self, tangent: Any, course: Course) -> None:
    """Remembers the course of the value with this tangent."""
    if type(tangent) is StageTracer:
      self.courses[tangent._var] = course

  def of(self, tangent: Any) -> Course | None:
    """The course of the value with this tangent."""
    return self.courses.get(tangent._var) if type(tangent) is StageTracer else None

  def __call__(
      self, p: Primitive, primals: list[Any], tangents: list[Any], params: Params,
      touts: Sequence[Any]) -> Sequence[Any]:
    courses = [self.of(t) for t in tangents]
    if all(c is None for c in courses):
      return touts
    rule = _RULES.get(p) or (_elementwise(p) if p.name in _FUNCTIONS else None)
    found = None if rule is None else rule(primals, courses, **params)
    if found is None or type(touts[0]) is Zero:
      return touts
    if found.axes:
      self.note(touts[0], found)
      return touts
    return touts if found.mixed is None else [add_tangents(touts[0], found.mixed)]


def _plus(*terms: Any) -> Any:
  """The sum of those that are not None, or None."""
  total = None
  for x in terms:
    if x is not None:
      total = x if total is None else add_any_p.apply(total, x)[0]
  return total


def _common_axes(courses: Sequence[Course | None]) -> Axes | None:
  """The axes of elementwise operands, if they agree."""
  axes = {c.axes for c in courses if c is not None}
  return axes.pop() if len(axes) == 1 else None


# ---- rules: (primals, courses, **params) -> the course of the result, if it is known

Rule = Callable[..., Course | None]


def _linear(p: Primitive, axes: Callable[..., Axes | None]) -> Rule:
  """The rule of a linear primitive; `axes(x, axes, **params)` says where axes go."""
  def rule(primals: list[Any], courses: list[Any], **params: Any) -> Course | None:
    course: Course = courses[0]
    to = axes(typeof(primals[0]), course.axes, **params)
    if to is None:
      return None
    return course.through(lambda x: p.apply(x, **params)[0], to)

  return rule


def _same_axes(_: Any, axes: Axes, **__: Any) -> Axes:
  return axes


def _transposed(_: Any, axes: Axes, *, permutation: Any, **__: Any) -> Axes:
  return tuple(sorted(permutation.index(d) for d in axes))


def _broadcast(_: Any, axes: Axes, *, broadcast_dimensions: Any, **__: Any) -> Axes:
  return tuple(broadcast_dimensions[d] for d in axes)


def _squeezed(_: Any, axes: Axes, *, dimensions: Any, **__: Any) -> Axes | None:
  if any(d in dimensions for d in axes):
    return None
  return tuple(d - sum(e < d for e in dimensions) for d in axes)


def _reshaped(x: Any, axes: Axes, *, new_sizes: Any, dimensions: Any = None,
              **_: Any) -> Axes | None:
  """An axis goes where as many elements stand before it, if it keeps its size."""
  if dimensions is not None or not x.size:
    return None
  out = []
  for d in axes:
    n, before = x.shape[d], math.prod(x.shape[:d])
    at = [e for e, size in enumerate(new_sizes)
          if size == n and math.prod(new_sizes[:e]) == before]
    if n == 1 or len(at) != 1:
      return None
    out.append(at[0])
  return tuple(out)


def _sum(primals: list[Any], courses: list[Any], *, axes: Any, **params: Any) -> Any:
  course = courses[0]
  left = tuple(d - sum(e < d for e in axes) for d in course.axes if d not in axes)
  return course.through(
      lambda x: reduce_sum_p.apply(x, axes=axes, **params)[0], left)


def _add(primals: list[Any], courses: list[Any], **_: Any) -> Course | None:
  axes = _common_axes(courses)
  if axes is None:
    return None
  shape = _joint_shape(primals)
  parts = [c.through(lambda x: grow(x, shape), axes) for c in courses if c is not None]
  return Course(axes, *(_plus(*xs) for xs in zip(*(c[1:] for c in parts))))


def _sub(primals: list[Any], courses: list[Any], **params: Any) -> Course | None:
  x, y = courses
  return _add(primals, [x, None if y is None else y.through(neg, y.axes)], **params)


def _joint_shape(xs: Sequence[Any]) -> tuple[int, ...]:
  """The shape of the result of an elementwise operation."""
  shapes = [typeof(x).shape for x in xs]
  rank = max(map(len, shapes))
  sizes = zip(*(s for s in shapes if len(s) == rank))
  return tuple([next((n for n in ns if n != 1), 1) for ns in sizes])


def _product(
    f: Callable[[Any, Any], Any], x: Any, y: Any, a: Course | None, b: Course | None,
    axes: Axes) -> Course:
  """The rule of a product `f(x, y)` of any kind."""
  def times(u: Any, v: Any) -> Any:
    return None if u is None or v is None else f(u, v)

  a, b = a or Course(()), b or Course(())
  return Course(
      axes, _plus(times(a.slope, y), times(x, b.slope)),
      _plus(times(a.turn, y), times(x, b.turn)),
      _plus(times(a.mixed, y), times(x, b.mixed), times(a.turn, b.slope),
            times(a.slope, b.turn)))


def _mul(primals: list[Any], courses: list[Any], **_: Any) -> Course | None:
  axes = _common_axes(courses)
  if axes is None:
    return None
  (x, y), (a, b) = primals, courses
  return _product(mul, x, y, a, b, axes)


def _div(primals: list[Any], courses: list[Any], **params: Any) -> Course | None:
  (x, y), (a, b) = primals, courses
  if b is None:
    return a.through(lambda t: div(t, y), a.axes)  # type: ignore[no-any-return]
  if b.turn is not None:
    return None
  if a is None or a.turn is None:
    return _elementwise(div_p)(primals, courses, **params)
  inverse = div(typeof(y).dtype.type(1), y)
  slope = neg(mul(mul(b.slope, inverse), inverse))
  return _mul([x, inverse], [a, Course(b.axes, slope)])


def _select(primals: list[Any], courses: list[Any], **_: Any) -> Course | None:
  which, *cases = primals
  courses = courses[1:]
  axes = _common_axes(courses)
  if axes is None:
    return None
  zero = zeros_like_aval(typeof(cases[0]))

  def pick(xs: Sequence[Any]) -> Any:
    if all(x is None for x in xs):
      return None
    return select_n_p.apply(which, *(zero if x is None else x for x in xs))[0]

  parts = [c or Course(axes) for c in courses]
  out = Course(axes, *map(pick, zip(*(c[1:] for c in parts))))
  shape = typeof(cases[0]).shape
  last = (len(shape) - 2, len(shape) - 1)
  if None in courses and out.turn is None and len(axes) == 1 and axes[0] in last and (
      shape[-2:] == shape[-1:] * 2):
    # A vector as a diagonal matrix: its index is the row's and the column's.
    return out._replace(axes=last)
  return out


def _dot(primals: list[Any], courses: list[Any], **params: Any) -> Course | None:
  (x, y), (a, b) = primals, courses
  (lhs, rhs), (lhs_batch, rhs_batch) = params["dimension_numbers"]
  lhs_free = [d for d in range(typeof(x).ndim) if d not in (*lhs, *lhs_batch)]
  rhs_free = [d for d in range(typeof(y).ndim) if d not in (*rhs, *rhs_batch)]
  left, right = [*lhs_batch, *lhs_free], [*rhs_batch, *rhs_free]
  to = set()
  if a is not None:
    to |= {left.index(d) for d in a.axes if d in left}
  if b is not None:
    shift = len(lhs_free)
    n = len(rhs_batch)
    to |= {
        i if i < n else i + shift for i, d in enumerate(right) if d in b.axes}
  if len(to) > 1:
    return None
  return _product(
      lambda u, v: dot_general_p.apply(u, v, **params)[0], x, y, a, b, tuple(to))


def _gather(
    primals: list[Any], courses: list[Any], *, dimension_numbers: GatherDimensionNumbers,
    fill_value: Any, **params: Any) -> Course | None:
  """Vectors, or elements, in another order."""
  x, indices = primals
  course, numbers = courses[0], dimension_numbers
  index_dims = range(typeof(indices).ndim - 1)
  within = [d for d in range(typeof(x).ndim) if d not in (
      *numbers.collapsed_slice_dims, *numbers.operand_batching_dims)]
  around = [d for d in range(len(index_dims) + len(within))
            if d not in numbers.offset_dims]
  free = [d for d in index_dims if d not in numbers.start_indices_batching_dims]
  to = []
  for d in course.axes:
    if d in within:
      to.append(numbers.offset_dims[within.index(d)])
    elif (d,) == numbers.start_index_map == numbers.collapsed_slice_dims and (
        len(free) == 1):
      to.append(around[free[0]])
    else:
      return None
  return course.through(  # type: ignore[no-any-return]
      lambda y: gather_p.apply(
          y, indices, dimension_numbers=numbers, fill_value=0, **params)[0], tuple(to))


def _elementwise(p: Primitive) -> Rule:
  """The rule of functions of eigenvalues alone."""
  def rule(primals: list[Any], courses: list[Any], **params: Any) -> Course | None:
    axes = _common_axes(courses)
    if axes is None or any(c is not None and c.turn is not None for c in courses):
      return None
    slopes = [
        Zero(typeof(x).to_tangent_aval()) if c is None else c.slope
        for x, c in zip(primals, courses)]
    slope = jvp_rule[p](primals, slopes, **params)[1][0]
    return None if type(slope) is Zero else Course(axes, slope)

  return rule


_RULES: dict[Primitive, Rule] = {
    add_any_p: _add, add_p: _add, sub_p: _sub, mul_p: _mul, div_p: _div,
    select_n_p: _select, gather_p: _gather, dot_general_p: _dot, reduce_sum_p: _sum,
    transpose_p: _linear(transpose_p, _transposed),
    broadcast_in_dim_p: _linear(broadcast_in_dim_p, _broadcast),
    squeeze_p: _linear(squeeze_p, _squeezed), reshape_p: _linear(reshape_p, _reshaped)}
_RULES |= {
    p: _linear(p, _same_axes) for p in (
        neg_p, real_p, imag_p, conj_p, copy_p, convert_element_type_p, slice_p, rev_p)}

_FUNCTIONS = frozenset({  # elementwise, by name
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "clamp",
    "cos", "cosh", "digamma", "erf", "erf_inv", "erfc", "exp", "exp2", "expm1",
    "integer_pow", "lgamma", "log", "log1p", "logistic", "max", "min", "pow", "rsqrt",
    "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh"})
