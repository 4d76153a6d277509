"""`pmap` and `shard_map` over eight devices, in a process of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAD = """
import numpy as np
import pytest
import gnomon
gnomon.config.update("jax_num_cpu_devices", 8)
from gnomon import lax
from gnomon.sharding import Mesh, NamedSharding, PartitionSpec as P
devices = gnomon.devices()
mesh = Mesh(np.array(devices).reshape(4, 2), ("x", "y"))
value = np.arange(32, dtype=np.float32).reshape(8, 4)
def same(x, y, rtol=1e-6):
  np.testing.assert_allclose(np.asarray(x), y, rtol=rtol)
def wrong(error, message, f, *args):
  with pytest.raises(error, match=message):
    f(*args)
def on(f, ins, outs): return gnomon.shard_map(f, mesh=mesh, in_specs=ins, out_specs=outs)
"""

CASES = {
    "pmap": """
f = gnomon.pmap(lambda x, y: lax.add(lax.mul(x, 2.0), y), in_axes=(0, None))
for _ in range(2):
  out = f(value, value[0])
  same(out, 2 * value + value[0])
assert out.sharding.device_set == set(devices)
assert out.addressable_shards[3].data.shape == (1, 4)
share = gnomon.pmap(lambda x: lax.div(x, lax.psum(x, "i")), axis_name="i")
same(share(value + 1), (value + 1) / (value + 1).sum(0))
ranks = gnomon.pmap(lambda x: lax.axis_index("i"), axis_name="i")
same(ranks(value[:3]), [0, 1, 2])
same(gnomon.pmap(lambda x: x, in_axes=1, out_axes=1)(value), value)
same(gnomon.pmap(lambda x: x, out_axes=None)(np.ones((8, 2), np.float32)), np.ones(2))
tree = gnomon.pmap(lambda p, *, k: {"r": lax.mul(p["a"], k)})({"a": value}, k=value)
same(tree["r"], value**2)
n = gnomon.pmap(lambda x, n: lax.mul(x, float(n)), static_broadcasted_argnums=1)
same(n(value, 3), 3 * value)
same(n(value, 4), 4 * value)
same(gnomon.pmap(lambda: lax.axis_index("i"), axis_name="i", axis_size=4)(), range(4))
few = gnomon.pmap(lambda x: x, devices=devices[4:6])(value[:2])
assert few.sharding.device_set == set(devices[4:6])
x = gnomon.device_put(value)
gnomon.pmap(lambda x: lax.neg(x), donate_argnums=0)(x)
assert x.is_deleted()
""",
    "pmap under transformations": """
f = gnomon.pmap(lambda x: lax.sin(x))
same(gnomon.grad(lambda x: lax.reduce_sum(f(x), (0, 1)))(value), np.cos(value), 1e-5)
same(gnomon.jit(lambda x: lax.mul(f(x), 2.0))(value), 2 * np.sin(value), 1e-5)
same(gnomon.vmap(f, in_axes=1)(value[:, :, None]), np.sin(value.T)[:, :, None], 1e-5)
primal, tangent = gnomon.jvp(f, (value,), (value,))
same(tangent, np.cos(value) * value, 1e-5)
""",
    "pmap refuses": """
wrong(ValueError, "requires 9 logical devices, but only 8",
      gnomon.pmap(lambda x: x), np.ones((9, 2)))
wrong(ValueError, r"one size, got the sizes \\[2, 3\\]",
      gnomon.pmap(lambda x, y: x), np.ones(2), np.ones(3))
wrong(ValueError, "give axis_size", gnomon.pmap(lambda: 1.0))
wrong(ValueError, r"axis 0 of an argument, whose shape is \\(\\)",
      gnomon.pmap(lambda x: x), np.float32(1))
wrong(TypeError, "pmap", gnomon.pmap, 3)
""",
    "shard_map: parts and wholes": """
seen = []
def f(a):
  seen.append(a.shape)
  return lax.mul(a, 2.0)
for spec, part in [
    (P("x"), (2, 4)), (P("y"), (4, 4)), (P(None, "x"), (8, 1)), (P("x", "y"), (2, 2)),
    (P(("x", "y")), (1, 4)), (P(("y", "x")), (1, 4)), (P(None, ("y",)), (8, 2)),
    (P(), (8, 4))]:
  out = on(f, spec, spec)(value)
  same(out, 2 * value)
  assert seen[-1] == part, (spec, seen[-1])
  assert out.sharding.is_equivalent_to(NamedSharding(mesh, spec), 2), out.sharding
def rank(a):
  index = lax.add(lax.mul(lax.axis_index("x"), 10), lax.axis_index("y"))
  return lax.add(a, lax.convert_element_type(index, np.float32))
ids = on(rank, P("x", "y"), P("x", "y"))(np.zeros((4, 2), np.float32))
same(ids, [[0, 1], [10, 11], [20, 21], [30, 31]])
""",
    "shard_map: collectives": """
same(on(lambda a: lax.psum(a, "x"), P("x"), P())(value), value.reshape(4, 2, 4).sum(0))
same(on(lambda a: lax.psum(a, ("x", "y")), P("x", "y"), P())(value),
     value.reshape(4, 2, 2, 2).sum((0, 2)))
same(on(lambda a: lax.all_gather(a, "x", axis=0, tiled=True), P("x"), P())(value), value)
same(on(lambda a: lax.ppermute(a, "x", [(i, (i + 1) % 4) for i in range(4)]),
        P("x"), P("x"))(value), np.roll(value, 2, 0))
same(on(lambda a: lax.psum_scatter(a, "x", scatter_dimension=0, tiled=True),
        P(None, "y"), P("x", "y"))(value), 4 * value)
def product(a, b):
  return lax.psum(lax.dot_general(a, b, (((1,), (0,)), ((), ()))), "y")
w = np.arange(12, dtype=np.float32).reshape(4, 3)
same(on(product, (P("x", "y"), P("y")), P("x"))(value, w), value @ w)
""",
    "shard_map under transformations": """
f = on(lambda a: lax.psum(lax.sin(a), "x"), P("x"), P())
def total(a): return lax.reduce_sum(f(a), (0, 1))
same(gnomon.grad(total)(value), np.cos(value), 1e-5)
same(gnomon.jit(f)(value), np.sin(value).reshape(4, 2, 4).sum(0), 1e-4)
stack = np.stack([value, 2 * value])
same(gnomon.vmap(f)(stack), np.sin(stack).reshape(2, 4, 2, 4).sum(1), 1e-4)
with gnomon.set_mesh(mesh):
  g = gnomon.shard_map(out_specs=P("x"), in_specs=(P("x"),))(lambda a: lax.neg(a))
  same(g(value), -value)
part = gnomon.shard_map(lambda a: lax.neg(a), mesh=mesh, in_specs=P("x"),
                        out_specs=P("x"), axis_names={"x"})
same(part(value), -value)
""",
    "shard_map refuses": """
neg = lambda a: lax.neg(a)
wrong(ValueError, "needs a mesh", gnomon.shard_map(neg, in_specs=P(), out_specs=P()), 1.0)
wrong(TypeError, "needs in_specs",
      lambda: gnomon.shard_map(neg, out_specs=P(), mesh=mesh))
wrong(ValueError, "'z'|z of", on(neg, P("z"), P()), value)
wrong(ValueError, "size 7, which the axes", on(neg, P("x"), P("x")), value[:7])
wrong(ValueError, "rank 3 or more", on(neg, P(None, None, "x"), P()), value)
wrong(ValueError, "leaves out", gnomon.shard_map(
    neg, mesh=mesh, in_specs=P("y"), out_specs=P(), axis_names={"x"}), value)
wrong(TypeError, "is a PartitionSpec", on(neg, ("x",), P()), value)
""",
}


@pytest.mark.parametrize("name", CASES)
def test_over_eight_devices(name: str) -> None:
  done = subprocess.run(
      [sys.executable, "-c", HEAD + CASES[name] + "print('fine')"], capture_output=True,
      text=True, timeout=300, check=False)
  assert done.stdout == "fine\n", done.stderr
