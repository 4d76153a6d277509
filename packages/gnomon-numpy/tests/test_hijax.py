"""Operations and types above those of arrays, as a library defines them."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as jnp
from gnomon import lax
from gnomon.experimental import hijax
from gnomon.experimental.hijax import HiPrimitive, HiType, VJPHiPrimitive

f32 = np.float32
X = np.array([0.5, -1.5, 2.0], f32)


class Power(VJPHiPrimitive):
  def __init__(self, aval: Any, *, power: int) -> None:
    self.in_avals, self.out_aval, self.params = (aval,), aval, {"power": power}
    super().__init__()

  power: int

  def expand(self, x: Any) -> Any:
    return x ** self.power

  def slope(self, x: Any) -> Any:
    return self.power * to_power(type(self), x, self.power - 1)


class Reverse(Power):
  def vjp_fwd(self, nzs_in: Any, /, x: Any) -> Any:
    assert nzs_in == (True,)
    return self(x), x

  def vjp_bwd_retval(self, res: Any, outgrad: Any, /) -> Any:
    return (outgrad * self.slope(res),)


class ReverseByAccumulators(Power):
  def vjp_fwd(self, nzs_in: Any, /, x: Any) -> Any:
    return self(x), {"x": x}

  def vjp_bwd(self, res: Any, outgrad: Any, /, x_accum: Any) -> None:
    x_accum.accum(outgrad * self.slope(res["x"]))


class Forward(Power):
  def jvp(self, primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return self(x), t * self.slope(x)

  def batch(self, axis_data: Any, args: Any, dims: Any) -> Any:
    (x,), (d,) = args, dims
    return to_power(type(self), x, self.power), d


class Linearized(Power):
  def lin(self, nzs_in: Any, x: Any) -> Any:
    return self(x), x

  def linearized(self, residuals: Any, t: Any) -> Any:
    return t * self.slope(residuals)


def to_power(kind: Any, x: Any, power: int) -> Any:
  return kind(gnomon.typeof(x), power=power)(x)


KINDS = [Reverse, ReverseByAccumulators, Forward, Linearized]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("compiled", [False, True])
def test_operations_under_transformations(kind: Any, compiled: bool) -> None:
  wrap = gnomon.jit if compiled else lambda f: f
  f = wrap(lambda x: to_power(kind, x, 3))
  np.testing.assert_allclose(f(X), X ** 3, rtol=1e-6)
  np.testing.assert_allclose(gnomon.vmap(f)(X), X ** 3, rtol=1e-6)
  total = wrap(lambda x: f(x).sum())
  np.testing.assert_allclose(gnomon.grad(total)(X), 3 * X ** 2, rtol=1e-6)
  np.testing.assert_allclose(gnomon.vmap(gnomon.grad(f))(X), 3 * X ** 2, rtol=1e-6)
  remat = gnomon.grad(gnomon.checkpoint(total))
  np.testing.assert_allclose(remat(X), 3 * X ** 2, rtol=1e-6)
  if kind in (Forward, Linearized):
    np.testing.assert_allclose(
        gnomon.jvp(f, (X,), (X,))[1], 3 * X ** 3, rtol=1e-6)
    np.testing.assert_allclose(
        gnomon.grad(gnomon.grad(f))(f32(2)), 12, rtol=1e-6)
  else:
    with pytest.raises(NotImplementedError, match="needs a method jvp"):
      gnomon.jvp(f, (X,), (X,))


def test_programs_show_operations() -> None:
  jaxpr = gnomon.make_jaxpr(lambda x: to_power(Forward, x, 3))(X)
  (eqn,) = jaxpr.eqns
  assert eqn.primitive.name == "call_hi_primitive"
  assert eqn.params["prim"] == Forward(gnomon.typeof(X), power=3)
  assert eqn.params["prim"] != Forward(gnomon.typeof(X), power=2)
  assert "Forward[power=3]" in str(jaxpr)


class Product(VJPHiPrimitive):
  """Where it is mapped says a rule of dimensions; linear in each operand."""

  def __init__(self, x: Any, y: Any) -> None:
    self.in_avals, self.out_aval, self.params = (x, y), x, {}
    super().__init__()

  def expand(self, x: Any, y: Any) -> Any:
    return x * y

  def batch_dim_rule(self, axis_data: Any, dims: Any, /) -> Any:
    return dims[1] if dims[0] is None else dims[0]

  def jvp(self, primals: Any, tangents: Any) -> Any:
    (x, y), (t, u) = primals, tangents
    parts = [
        product(*operands) for operands, d in (((t, y), t), ((x, u), u))
        if not isinstance(d, hijax.Zero)]
    return product(x, y), sum(parts[1:], parts[0])

  def transpose(self, out_ct: Any, *maybe_accums: Any) -> None:
    for own, other in (maybe_accums, maybe_accums[::-1]):
      if hasattr(own, "accum"):
        own.accum(product(out_ct, other))


def product(x: Any, y: Any) -> Any:
  return Product(gnomon.typeof(x), gnomon.typeof(y))(x, y)


def test_places_of_mapped_results_and_transposes() -> None:
  x = np.arange(24, dtype=f32).reshape(2, 3, 4)
  y = np.arange(3, dtype=f32)
  f = gnomon.vmap(gnomon.vmap(product, (0, None)), (2, None), 2)
  np.testing.assert_array_equal(f(x, y), x * y[None, :, None])
  grads = gnomon.grad(lambda a, b: product(a, b).sum(), (0, 1))(X, 2 * X)
  np.testing.assert_allclose(np.stack(grads), [2 * X, X])
  (alone,) = gnomon.linear_transpose(lambda a: product(a, X), X)(X)
  np.testing.assert_allclose(alone, X * X)


def test_mistakes_are_named() -> None:
  class Both(Reverse):
    def vjp_bwd(self, res: Any, outgrad: Any, /, x_accum: Any) -> None:
      pass

  with pytest.raises(AttributeError, match="both vjp_bwd and vjp_bwd_retval"):
    Both(gnomon.typeof(X), power=1)
  with pytest.raises(TypeError, match="takes 1 arguments, got 2"):
    Reverse(gnomon.typeof(X), power=1)(X, X)
  with pytest.raises(NotImplementedError, match="needs a method jvp"):
    gnomon.grad(lambda x: to_power(Power, x, 1))(f32(1))


# ---- types


@dataclasses.dataclass
class Interval:
  low: Any
  high: Any


@dataclasses.dataclass(frozen=True)
class IntervalType(HiType):
  of: Any

  def lo_ty(self) -> Any:
    return [self.of, self.of]

  def lower_val(self, hi_val: Any) -> Any:
    return [hi_val.low, hi_val.high]

  def raise_val(self, *lo_vals: Any) -> Any:
    return Interval(*lo_vals)

  def to_tangent_aval(self) -> Any:
    return IntervalType(self.of.to_tangent_aval())


hijax.register_hitype(Interval, lambda x: IntervalType(gnomon.typeof(x.low)))


class MakeInterval(HiPrimitive):
  def abstract_eval(self, *arg_avals: Any, **params: Any) -> Any:
    return IntervalType(arg_avals[0]), set()

  def to_lojax(self, x: Any, *, radius: float) -> Any:  # type: ignore[override]
    return Interval(x - f32(radius), x + f32(radius))

  def jvp(self, primals: Any, tangents: Any, **params: Any) -> Any:
    (t,) = tangents
    return make_interval(*primals, **params), make_interval(t, radius=0.0)

  def transpose(self, *args: Any, **params: Any) -> Any:
    ct, x = args
    assert hijax.is_undefined_primal(x)
    return [ct.low + ct.high]


make_interval = MakeInterval("make_interval").bind


class Width(VJPHiPrimitive):
  def __init__(self, aval: Any) -> None:
    self.in_avals, self.out_aval, self.params = (aval,), aval.of, {}
    super().__init__()

  def expand(self, x: Any) -> Any:
    return (x.high - x.low) ** 2

  def vjp_fwd(self, nzs_in: Any, /, x: Any) -> Any:
    return self(x), x

  def vjp_bwd_retval(self, res: Any, outgrad: Any, /) -> Any:
    slope = 2 * (res.high - res.low) * outgrad
    return (Interval(-slope, slope),)


def width(x: Any) -> Any:
  return Width(gnomon.typeof(x))(x)


def test_values_that_consist_of_arrays() -> None:
  box = make_interval(X, radius=0.5)
  assert isinstance(box, Interval)
  assert gnomon.typeof(box) == IntervalType(gnomon.typeof(X))
  np.testing.assert_allclose(width(box), [1, 1, 1])
  through = gnomon.jit(lambda b: Interval(b.low, b.high + 1))(box)
  np.testing.assert_allclose(gnomon.jit(width)(through), [4, 4, 4])
  np.testing.assert_allclose(gnomon.vmap(width)(through), [4, 4, 4])
  carried = lax.fori_loop(0, 3, lambda i, b: Interval(b.low, b.high + 1), box)
  np.testing.assert_allclose(width(carried), [16, 16, 16])
  slope = gnomon.grad(lambda b: width(b).sum())(box)
  np.testing.assert_allclose(slope.high, [2, 2, 2])

  def stretched(x: Any) -> Any:
    b = make_interval(x, radius=0.5)
    return width(Interval(b.low, 2 * b.high)).sum()

  # (2 (x + 1/2) - (x - 1/2)) ** 2, whose slope is 2 (x + 3/2)
  for f in (stretched, gnomon.jit(stretched)):
    np.testing.assert_allclose(gnomon.grad(f)(X), 2 * (X + 1.5), rtol=1e-6)


def test_types_add_and_are_zero() -> None:
  t = IntervalType(gnomon.typeof(X))
  two = t.vspace_add(Interval(X, X), Interval(X, -X))
  np.testing.assert_allclose(np.stack([two.low, two.high]), [2 * X, 0 * X])
  np.testing.assert_allclose(t.vspace_zero().low, 0 * X)
  assert t.is_high
  assert not t.has_qdd


def test_tangents_of_another_form_are_refused() -> None:
  @dataclasses.dataclass(frozen=True)
  class Quantized(IntervalType):
    def to_tangent_aval(self) -> Any:
      return self.of

  class Cut(Width):
    pass

  aval = Quantized(gnomon.typeof(X))
  with pytest.raises(NotImplementedError, match="does not consist of the tangents"):
    gnomon.grad(lambda x: Cut(aval)(Interval(x, x)).sum())(X)


def test_attributes_of_types() -> None:
  class Wide(gnomon.core.AbstractValue):
    doubled = hijax.aval_property(lambda x: 2)
    plus = hijax.aval_method(lambda x, y: y + 1)

  class Own(gnomon.core.Tracer):
    aval = Wide()  # type: ignore[assignment]

  x = Own(None)
  assert (x.doubled, x.plus(3)) == (2, 4)
  with pytest.raises(AttributeError, match="no attribute 'halved'"):
    x.halved  # noqa: B018 -- raises


# ---- values that change: the protocol alone


class Counter:
  def __init__(self, count: Any) -> None:
    self.count = count

  def cur_qdd(self) -> Any:
    return gnomon.typeof(self.count)


class CounterType(hijax.MutableHiType):
  def lo_ty_qdd(self, state: Any, /) -> Any:
    return [state]

  def new_from_loval(self, state: Any, /, *vals: Any) -> Any:
    return Counter(*vals)

  def read_loval(self, state: Any, val: Any, /) -> Any:
    return [val.count]

  def update_from_loval(self, state: Any, val: Any, /, *lo_vals: Any) -> None:
    (val.count,) = lo_vals


def test_values_that_change() -> None:
  counter = Counter(jnp.float32(1))
  state = hijax.cur_qdd(counter)
  both = hijax.AvalQDD(CounterType(), state)
  assert both.lo_ty() == [state]
  assert both.is_high
  assert both.has_qdd
  assert both.read_loval_in(counter) == both.read_loval_out(counter) == [counter.count]
  assert both.new_from_loval(3).count == 3
  CounterType().update_from_loval2(state, counter, [5])
  assert counter.count == 5
  with pytest.raises(TypeError, match="ask lo_ty_qdd"):
    CounterType().lo_ty()
  with pytest.raises(TypeError, match="has no part that changes"):
    hijax.cur_qdd(3)


def test_specs_of_values() -> None:
  class Spec(hijax.HiPspec):
    def to_lo(self) -> Any:
      return ["x"]

  spec = Spec()
  assert spec.to_tangent_spec() is spec.to_ct_spec() is spec
  with pytest.raises(NotImplementedError, match="HiPspec must define to_lo"):
    hijax.HiPspec().to_lo()
  kinds = hijax.control_flow_allowed_effects
  assert kinds.contains(gnomon.core.Effect()) is False


class Cell:
  """Holds an array that may change; asked for as an array it reads itself."""

  def __init__(self, value: Any) -> None:
    self.value = value

  def __jax_array__(self) -> Any:
    return read.bind(self)


class CellType(HiType):
  has_qdd = True


hijax.register_hitype(Cell, lambda _: CellType())


class Read(HiPrimitive):
  def impl(self, cell: Cell) -> Any:
    return cell.value


class Write(HiPrimitive):
  multiple_results = True

  def impl(self, cell: Cell, value: Any, *, scale: float) -> list[Any]:
    cell.value = value * scale
    return []


read, write = Read("read"), Write("write")


def test_impl_gets_the_values_themselves() -> None:
  cell = Cell(gnomon.numpy.asarray(X))
  assert write.bind(cell, cell.value, scale=3.0) == []
  np.testing.assert_allclose(read.bind(cell), 3 * X)
  np.testing.assert_allclose(gnomon.lax.neg(cell.__jax_array__()), -3 * X)
  np.testing.assert_allclose(
      gnomon.grad(lambda x: (x * read.bind(cell)).sum())(X), 3 * X)
  np.testing.assert_allclose(
      gnomon.vmap(lambda x: x * read.bind(cell))(X)[1], X[1] * 3 * X)
