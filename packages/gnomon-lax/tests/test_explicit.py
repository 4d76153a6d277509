"""Types that say how arrays are divided over explicit axes, operation by operation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.core.shardings import ShardingTypeError
from gnomon.sharding import (
  AbstractMesh,
  AxisType,
  NamedSharding,
  reshard,
  use_abstract_mesh,
)
from gnomon.sharding import PartitionSpec as P

MESH = AbstractMesh((4, 2), ("x", "y"), (AxisType.Explicit,) * 2)


def value(*shape: int, spec: Any = ()) -> Any:
  return gnomon.ShapeDtypeStruct(
      shape, np.float32, sharding=NamedSharding(MESH, P(*spec)))


XY = value(8, 4, spec=("x", "y"))
WHOLE = value(8, 4)
X_ = value(8, 4, spec=("x",))
BATCH = value(8, 4, 6, spec=("x", None, "y"))
INDEX = gnomon.ShapeDtypeStruct((), np.int32)


def types_of(f: Any, *args: Any) -> str:
  with use_abstract_mesh(MESH):
    return ", ".join(
        a.str_short(True) for a in gnomon.make_jaxpr(f)(*args).out_avals)


def reshaped(new: Any, **options: Any) -> Any:
  return lambda x: lax.reshape(x, new, **options)


def dot(contract: Any, batch: Any = ((), ()), **options: Any) -> Any:
  return lambda x, y: lax.dot_general(x, y, (contract, batch), **options)


def seen(x: Any, spec: Any) -> Any:
  assert gnomon.typeof(x).sharding.spec == spec
  return x


NUMBERS = lax.GatherDimensionNumbers((1,), (0,), (0,))


@pytest.mark.parametrize(("f", "args", "expected"), [
    (lax.sin, (XY,), "f32[8@x,4@y]"),
    (lax.add, (XY, WHOLE), "f32[8@x,4@y]"),
    (lax.add, (X_, value(8, 4, spec=(None, "y"))), "f32[8@x,4@y]"),
    (lambda x: lax.mul(x, 2.0), (XY,), "f32[8@x,4@y]"),
    (lambda x: lax.convert_element_type(x, "int32"), (XY,), "i32[8@x,4@y]"),
    (lambda x, y: lax.select(lax.gt(x, y), x, y), (XY, WHOLE), "f32[8@x,4@y]"),
    (lambda x: lax.reduce_sum(x, (0,)), (XY,), "f32[4@y]"),
    (lambda x: lax.reduce_max(x, (0, 1)), (XY,), "f32[]"),
    (lambda x: lax.argmax(x, 1, "int32"), (XY,), "i32[8@x]"),
    (lambda x: lax.transpose(x, (1, 0)), (XY,), "f32[4@y,8@x]"),
    (lambda x: lax.broadcast(x, (3,)), (XY,), "f32[3,8@x,4@y]"),
    (lambda x: lax.broadcast_in_dim(x, (8, 4), (0, 1)), (value(8, 1, spec=("x",)),),
     "f32[8@x,4]"),
    (lambda: lax.full((8, 4), 1.0, sharding=NamedSharding(MESH, P("x"))), (),
     "f32[8@x,4]"),
    (lambda x: lax.concatenate([x, x], 0), (XY,), "f32[16@x,4@y]"),
    (lambda x: lax.pad(x, 0.0, [(4, 4, 0), (0, 0, 0)]), (XY,), "f32[16@x,4@y]"),
    (lambda x: lax.slice(x, (0, 0), (4, 4)), (XY,), "f32[4@x,4@y]"),
    (lambda x, i: lax.dynamic_slice(x, (i, i), (8, 2)), (XY, INDEX), "f32[8@x,2@y]"),
    (lambda x, i: lax.dynamic_update_slice(x, lax.full((8, 1), 0.0), (i, i)),
     (X_, INDEX), "f32[8@x,4]"),
    (lambda x: lax.rev(x, (0,)), (XY,), "f32[8@x,4@y]"),
    (lambda x: lax.sort(x, dimension=1), (X_,), "f32[8@x,4]"),
    (lambda x: lax.cumsum(x, 1), (X_,), "f32[8@x,4]"),
    (lambda x: tuple(lax.split(x, (1, 3), 1)), (X_,), "f32[8@x,1], f32[8@x,3]"),
    (lambda x: lax.gather(x, np.array([[1], [2]]), NUMBERS, (1, 4)),
     (value(8, 4, spec=(None, "y")),), "f32[2,4@y]"),
    (lambda x: lax.bitcast_convert_type(x, "int32"), (XY,), "i32[8@x,4@y]"),
    (dot(((1,), (0,))), (XY, value(4, 6)), "f32[8@x,6]"),
    (dot(((1,), (0,))), (X_, value(4, 6, spec=(None, "y"))), "f32[8@x,6@y]"),
    (dot(((2,), (1,)), ((0,), (0,))), (BATCH, value(8, 6, 3, spec=("x",))),
     "f32[8@x,4,3]"),
    (dot(((1,), (1,)), out_sharding=P("x", None)), (XY, XY), "f32[8@x,8]"),
    (lambda x, w: lax.conv(x, w, (1, 1), "SAME"),
     (value(8, 3, 6, 6, spec=("x",)), value(4, 3, 2, 2, spec=("y",))),
     "f32[8@x,4@y,6,6]"),
    (lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 2), (1, 2)), (X_,),
     "f32[8@x,2]"),
    (lambda x: reshard(x, P("y", "x")), (XY,), "f32[8@y,4@x]"),
    (gnomon.vmap(lax.sin), (XY,), "f32[8@x,4@y]"),
    (gnomon.vmap(lambda x: seen(x, P("y")), 0, 1), (XY,), "f32[4@y,8@x]"),
    (gnomon.vmap(dot(((1,), (0,)), out_sharding=P(None, "y")), (0, None)),
     (BATCH, value(6, 2)), "f32[8@x,4,2@y]"),
    (gnomon.vmap(reshaped((2, 2), out_sharding=P("y"))), (X_,), "f32[8@x,2@y,2]"),
    (gnomon.vmap(lambda x: lax.broadcast_in_dim(x, (4, 2), (0,), out_sharding=P("y"))),
     (X_,), "f32[8@x,4@y,2]"),
    (gnomon.vmap(lambda x: lax.reduce_sum(x, (0,), out_sharding=P("y"))),
     (value(8, 4, 6, spec=("x",)),), "f32[8@x,6@y]"),
    (gnomon.grad(lambda x: lax.reduce_sum(lax.sin(x), (0, 1))), (XY,), "f32[8@x,4@y]"),
    (gnomon.grad(lambda w, x: lax.reduce_sum(dot(((1,), (0,)))(x, w), (0, 1))),
     (value(4, 6), XY), "f32[4,6]"),
    (gnomon.jit(lax.sin), (XY,), "f32[8@x,4@y]"),
    (lambda x: lax.cond(True, lax.sin, lax.cos, x), (XY,), "f32[8@x,4@y]")])
def test_types(f: Any, args: Any, expected: str) -> None:
  assert types_of(f, *args) == expected


@pytest.mark.parametrize(("shape", "spec", "new", "expected"), [
    ((8, 4), ("x",), (32,), "f32[32@x]"),
    ((8, 4), ("x", "y"), (32,), "f32[32@(x,y)]"),
    ((32,), ("x",), (8, 4), "f32[8@x,4]"),
    ((32,), (("x", "y"),), (8, 4), "f32[8@(x,y),4]"),
    ((32,), (("x", "y"),), (4, 8), "f32[4@x,8@y]"),
    ((8, 4), ("x",), (1, 8, 4), "f32[1,8@x,4]"),
    ((8, 1, 4), ("x", None, "y"), (8, 4), "f32[8@x,4@y]"),
    ((8, 4), ("x", "y"), (8, 2, 2), "f32[8@x,2@y,2]"),
    ((8, 4), ("x", "y"), (4, 2, 4), "f32[4@x,2,4@y]"),
    ((2, 4, 4), ("y", "x"), (8, 4), "f32[8@(y,x),4]"),
    ((8, 4), (None, "x"), (32,), None),
    ((8, 4), ("y", "x"), (4, 8), None),
    ((32,), ("x",), (2, 16), None),
    ((8, 4), ("x", "y"), (2, 4, 4), None),
    ((2, 4, 4), (None, "x"), (8, 4), None)])
def test_reshapes(shape: Any, spec: Any, new: Any, expected: str | None) -> None:
  if expected is not None:
    assert types_of(reshaped(new), value(*shape, spec=spec)) == expected
    return
  with pytest.raises(ShardingTypeError, match="this reshape is not supported"):
    types_of(reshaped(new), value(*shape, spec=spec))
  asked = reshaped(new, out_sharding=NamedSharding(MESH, P()))
  assert "@" not in types_of(asked, value(*shape, spec=spec))


@pytest.mark.parametrize(("f", "args", "message"), [
    (lax.add, (XY, value(8, 4, spec=("y",))), "add got incompatible shardings"),
    (lax.add, (X_, value(8, 4, spec=(None, "x"))), "divides one dimension at most"),
    (dot(((1,), (1,))), (XY, XY), "Contracting dimensions are sharded"),
    (dot(((1,), (0,))), (X_, value(4, 8, spec=(None, "x"))), "divided twice"),
    (lambda x: lax.sort(x, dimension=0), (XY,), "works along dimension 0"),
    (lambda x: lax.slice(x, (0, 0), (2, 4)), (XY,), "into 4 parts"),
    (lambda x: lax.gather(x, np.array([[1], [2]]), NUMBERS, (1, 4)), (XY,),
     "at places along dimension 0"),
    (lambda x, i: lax.dynamic_update_slice(x, lax.full((1, 4), 0.0), (i, i)),
     (XY, INDEX), "cuts dimension 0"),
    (lambda x, w: lax.conv(x, w, (1, 1), "SAME"),
     (value(8, 4, 6, 6, spec=(None, "x")), value(4, 4, 2, 2)), "sums along dimension 1"),
    (lambda x: lax.reduce_window(x, -np.inf, lax.max, (2, 1), (2, 1)), (X_,),
     "windows along"),
    (lambda x: lax.fft(x, "fft", (4,)), (XY,), "the operation .* does not know")])
def test_what_does_not_fit(f: Any, args: Any, message: str) -> None:
  with pytest.raises(ShardingTypeError, match=message):
    types_of(f, *args)


def test_only_explicit_axes_can_be_asked_for() -> None:
  mesh = MESH.update(axis_types=(AxisType.Explicit, AxisType.Auto))
  with use_abstract_mesh(mesh), pytest.raises(ValueError, match="type Auto or Manual"):
    gnomon.make_jaxpr(reshaped((4, 8), out_sharding=P("y")))(np.ones((8, 4)))
  with pytest.raises(ValueError, match="Using PartitionSpec when not under a mesh"):
    gnomon.make_jaxpr(reshaped((4, 8), out_sharding=P("y")))(np.ones((8, 4)))


def test_what_types_say_without_a_mesh() -> None:
  for x in (np.ones((2, 3)), lax.full((2, 3), 0.0), 1.0):
    found = gnomon.typeof(x).sharding
    assert found.mesh is AbstractMesh((), ())
    assert found.spec == P(*[None] * np.ndim(x))
  seen = []
  gnomon.jit(lambda x: seen.append(gnomon.typeof(x).sharding.spec))(np.ones(3))
  assert seen == [P(None)]
  with use_abstract_mesh(MESH):
    assert gnomon.typeof(np.ones(2)).sharding == NamedSharding(MESH, P(None))


def test_constraints_assert_over_explicit_axes() -> None:
  asserted = lambda spec: lambda x: lax.with_sharding_constraint(x, spec)  # noqa: E731
  assert types_of(asserted(NamedSharding(MESH, P("x", "y"))), XY) == "f32[8@x,4@y]"
  with pytest.raises(AssertionError, match="acts as an assert"):
    types_of(asserted(NamedSharding(MESH, P("y"))), XY)
