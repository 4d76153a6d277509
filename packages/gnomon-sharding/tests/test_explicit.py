"""Explicit axes over eight devices, in a process of its own: values and places."""

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
from gnomon.sharding import AxisType, NamedSharding, auto_axes, explicit_axes
P = gnomon.P
mesh = gnomon.make_mesh((4, 2), ("x", "y"))
auto = gnomon.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
value = np.arange(32, dtype=np.float32).reshape(8, 4) / 10
x = gnomon.device_put(value, NamedSharding(mesh, P("x", "y")))
def same(x, y): np.testing.assert_allclose(np.asarray(x), y, rtol=1e-5, atol=1e-5)
def at(x, spec, y):
  assert x.sharding == NamedSharding(mesh, spec), x.sharding
  assert gnomon.typeof(x).sharding.spec == spec
  same(x, y)
def matmul(a, b, **options):
  return lax.dot_general(a, b, (((1,), (0,)), ((), ())), **options)
def total(x): return lax.reduce_sum(x, tuple(range(x.ndim)))
"""

CASES = {
    "operations": """
assert str(gnomon.typeof(x)) == "float32[8@x,4@y]"
at(lax.sin(x), P("x", "y"), np.sin(value))
at(lax.transpose(x, (1, 0)), P("y", "x"), value.T)
at(gnomon.jit(lambda x: lax.reduce_sum(x, (0,)))(x), P("y"), value.sum(0))
twice = gnomon.jit(lambda x: lax.concatenate([x, x], 1))(x)
at(twice, P("x", "y"), np.hstack([value] * 2))
same(total(x), value.sum())
y = gnomon.jit(lambda x: lax.reshape(x, (4, 8), out_sharding=P("y", None)))
with gnomon.set_mesh(mesh):
  at(y(x), P("y", None), value.reshape(4, 8))
""",
    "resharding": """
with gnomon.set_mesh(mesh):
  at(gnomon.reshard(x, P("y")), P("y", None), value)
  at(gnomon.jit(lambda x: gnomon.reshard(lax.sin(x), P(None, "x")))(x), P(None, "x"),
     np.sin(value))
  at(gnomon.jit(lambda x: gnomon.reshard(x, P("x")))(value), P("x", None), value)
at(gnomon.reshard(value, NamedSharding(mesh, P("x", None))), P("x", None), value)
moved = gnomon.device_put(x, NamedSharding(auto, P("y", "x")))
assert str(gnomon.typeof(moved)) == "float32[8,4]"
same(moved, value)
with pytest.raises(ValueError, match="there is no mesh"):
  gnomon.reshard(np.ones(2), P("x"))
with gnomon.set_mesh(auto), pytest.raises(ValueError, match="is Auto"):
  gnomon.reshard(np.ones(8), P("x"))
""",
    "gradients": """
w = gnomon.device_put(np.ones((4, 6), np.float32), NamedSharding(mesh, P("y", None)))
def loss(w, x):
  return total(lax.tanh(matmul(gnomon.reshard(x, P("x", None)), gnomon.reshard(w, P()))))
expected = value.T @ (1 - np.tanh(value @ np.ones((4, 6))) ** 2)
with gnomon.set_mesh(mesh):
  for f in (gnomon.grad(loss), gnomon.jit(gnomon.grad(loss))):
    at(f(w, x), P("y", None), expected)
  g = gnomon.grad(gnomon.checkpoint(lambda x: total(lax.sin(lax.sin(x)))))(x)
  at(g, P("x", "y"), np.cos(np.sin(value)) * np.cos(value))
  row = gnomon.device_put(value[0], NamedSharding(mesh, P("y")))
  hessian = gnomon.hessian(lambda v: total(lax.mul(v, lax.mul(v, v))))
  same(hessian(row), np.diag(6 * value[0]))
  out, t = gnomon.jvp(lax.sin, (x,), (x,))
  at(t, P("x", "y"), np.cos(value) * value)
""",
    "control": """
with gnomon.set_mesh(mesh):
  columns = gnomon.reshard(x, P(None, "y"))
  init = gnomon.reshard(np.zeros(4, np.float32), P("y"))
  step = lambda c, a: (lax.add(c, a), lax.mul(c, a))
  end, ys = gnomon.jit(lambda i, x: lax.scan(step, i, x))(init, columns)
  at(end, P("y"), value.sum(0))
  same(gnomon.jit(lambda x: lax.cond(True, lax.sin, lax.cos, x))(x), np.sin(value))
  out = gnomon.jit(gnomon.vmap(lambda v: lax.mul(v, total(v))))(x)
  same(out, value * value.sum(1, keepdims=True))
""",
    "auto and explicit": """
with gnomon.set_mesh(mesh):
  seen = []
  def backwards(x):
    seen.append(str(gnomon.typeof(x)))
    return lax.rev(lax.sin(x), (0,))
  f = auto_axes(backwards, out_sharding=P("x", None))
  at(f(x), P("x", None), np.sin(value)[::-1])
  at(gnomon.jit(f)(x), P("x", None), np.sin(value)[::-1])
  at(auto_axes(backwards)(x, out_sharding=P()), P(None, None), np.sin(value)[::-1])
  assert set(seen) == {"float32[8,4]"}
  some = auto_axes(backwards, axes="y", out_sharding=P("x", "y"))
  at(some(x), P("x", "y"), np.sin(value)[::-1])
  assert seen[-1] == "float32[8@x,4]"
  for run in (lambda f: f, gnomon.jit):
    g = run(gnomon.grad(lambda x: total(some(x))))
    at(g(x), P("x", "y"), np.cos(value))
  closed = gnomon.make_jaxpr(some)(x)
  (out,) = gnomon.extend.core.jaxpr_as_fun(closed)(x)
  at(out, P("x", "y"), np.sin(value)[::-1])
  with pytest.raises(TypeError, match="needs out_sharding"):
    auto_axes(backwards)(x)
  def rows(x):
    seen.append(str(gnomon.typeof(x)))
    return lax.mul(x, 2.0)
  for run in (lambda f: f, gnomon.jit):
    at(gnomon.vmap(run(rows))(x), P("x", "y"), 2 * value)
    assert seen[-1] == "float32[4@y]"
  with pytest.raises(ValueError, match="Mapped away dimension"):
    gnomon.vmap(lax.add)(x, gnomon.reshard(x, P(None, "x")))
  with pytest.raises(ValueError, match="names the axes"):
    auto_axes(backwards, axes="z", out_sharding=P())(x)
with gnomon.set_mesh(auto):
  def double(x):
    seen.append(str(gnomon.typeof(x)))
    return lax.mul(x, 2.0)
  f = explicit_axes(double, in_sharding=P("x", "y"))
  same(f(value), 2 * value)
  same(gnomon.jit(f)(value), 2 * value)
  assert seen[-1] == "float32[8@x,4@y]"
  with pytest.raises(TypeError, match="needs in_sharding"):
    explicit_axes(double)(value)
with pytest.raises(ValueError, match="there is no mesh"):
  auto_axes(double, out_sharding=P())(value)
""",
    "the mesh in force": """
constant = gnomon.device_put(value, NamedSharding(auto, P("y", "x")))
same(gnomon.jit(lambda x: lax.add(x, constant))(value), 2 * value)
same(gnomon.jit(lambda: lax.add(constant, 1.0))(), value + 1)
small = gnomon.device_put(np.arange(4.0, dtype=np.float32), NamedSharding(auto, P("x")))
same(gnomon.jit(lambda: lax.mul(small, 2.0))(), [0, 2, 4, 6])
seen = []
def f(x):
  seen.append(gnomon.typeof(x).sharding.mesh)
  return lax.mul(x, 2.0)
g = gnomon.jit(f)
assert len(g(value).sharding.device_set) == 1
with gnomon.set_mesh(mesh):
  at(g(value), P(None, None), 2 * value)
  committed = gnomon.device_put(value, gnomon.devices()[1])
  with pytest.raises(ValueError, match="incompatible devices"):
    g(committed)
with gnomon.set_mesh(auto):
  assert g(value).sharding == NamedSharding(auto, P())
with auto:  # the older way: it says what specs mean
  assert len(g(value).sharding.device_set) == 1
  out = gnomon.jit(lambda x: lax.mul(x, 2.0), in_shardings=P("x"))(value)
  assert out.sharding.spec == P("x")
assert [m.axis_types for m in seen] == [
  (), (AxisType.Explicit,) * 2, *[(AxisType.Auto,) * 2] * 2]
double = gnomon.jit(lambda x: lax.mul(x, 2.0), in_shardings=P("x"))
for error, message, call in (
    (RuntimeError, "jit requires a non-empty mesh", lambda: double(value)),
    (ValueError, "does not support kwargs", lambda: double(x=value)),
    (ValueError, "Unconstrained dims",
     lambda: gnomon.jit(f, out_shardings=NamedSharding(auto, P(P.UNCONSTRAINED)))),
    (ValueError, "manual axes", lambda: gnomon.set_mesh(
      mesh.update(axis_types=(AxisType.Manual,) * 2))),
    (ValueError, "One of pjit arguments.*rank at least 3", lambda: gnomon.jit(
      f, in_shardings=NamedSharding(auto, P(None, None, "x")))(value)),
    (ValueError, "One of pjit outputs.*evenly divide", lambda: gnomon.jit(
      f, out_shardings=NamedSharding(auto, P("x")))(value[:3])),
    (ValueError, "both a device and a backend",
     lambda: gnomon.jit(f, device=gnomon.devices()[0], backend="cpu")),
    (ValueError, "then in_shardings should not",
     lambda: gnomon.jit(f, in_shardings=P("x"), backend="cpu")),
    (ValueError, "rank at least 3",
     lambda: gnomon.ShapeDtypeStruct((2, 2), "f4", sharding=P(None, None, "x")))):
  with pytest.raises(error, match="(?s)" + message):
    call()
""",
    "parts": """
from gnomon.experimental.shard_alike import shard_alike
f = gnomon.shard_map(
  lambda p: (lax.psum(p, "x"), lax.mul(p, 2.0)), mesh=mesh, in_specs=P("x", "y"),
  out_specs=(P(None, "y"), P("x", "y")))
for given in (value, x):
  for run in (f, gnomon.jit(f)):
    sums, twice = run(given)
    at(sums, P(None, "y"), value.reshape(4, 2, 4).sum(0))
    at(twice, P("x", "y"), 2 * value)
inferred = gnomon.shard_map(lambda p: lax.mul(p, p), mesh=mesh, out_specs=P("x", "y"))
at(inferred(x), P("x", "y"), value * value)
with pytest.raises(TypeError, match="needs in_specs"):
  gnomon.shard_map(lambda p: p, mesh=auto, out_specs=P())(x)
with gnomon.set_mesh(mesh):
  at(gnomon.grad(lambda x: total(f(x)[1]))(x), P("x", "y"), np.full((8, 4), 2.0))
  rows = gnomon.reshard(value, P("x"))
  each = gnomon.smap(lambda p: lax.psum(p, "x"), in_axes=0, out_axes=None, axis_name="x")
  same(each(rows), value.reshape(4, 2, 4).sum(0))
  inferred = gnomon.smap(lambda p: lax.mul(p, p), out_axes=0, axis_name="x")
  same(inferred(rows), value * value)
with pytest.raises(ValueError, match="context mesh cannot be empty"):
  each(value)
alike = gnomon.jit(lambda x: shard_alike(x, lax.full((8, 4), 1.0))[1])
divided = gnomon.device_put(value, NamedSharding(auto, P("x")))
assert alike(divided).sharding.spec == P("x")
""",
    "ahead of time": """
place = NamedSharding(mesh, P("x", "y"))
struct = gnomon.ShapeDtypeStruct((8, 4), np.float32, sharding=place)
lowered = gnomon.jit(lambda x: lax.sin(x)).lower(struct)
assert '"x"' in lowered.as_text()
compiled = lowered.compile()
assert compiled.input_shardings == ((place,), {})
assert compiled.output_shardings == place
assert compiled.out_info.sharding == place
at(compiled(x), P("x", "y"), np.sin(value))
same(compiled(value), np.sin(value))
with pytest.raises(ValueError, match="disagree with the shardings.*\\n.*x of type"):
  compiled(gnomon.device_put(value, NamedSharding(mesh, P())))
out = gnomon.eval_shape(lambda x: lax.reduce_sum(x, (0,)), struct)
assert out.sharding.spec == P("y")
seen = []
gnomon.jit(lambda x: seen.append(gnomon.ShapeDtypeStruct.like(x).sharding.spec))(x)
assert seen == [P("x", "y")]
""",
}


@pytest.mark.parametrize("name", CASES)
def test_over_eight_devices(name: str) -> None:
  done = subprocess.run(
      [sys.executable, "-c", HEAD + CASES[name] + "print('fine')"], capture_output=True,
      text=True, timeout=180, check=False)
  assert done.stdout == "fine\n", done.stderr
