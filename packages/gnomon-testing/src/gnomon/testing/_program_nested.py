"""Steps of random programs that hold programs: calls, branches, loops, derivatives."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

import gnomon
from gnomon import lax
from gnomon.testing._program_steps import Draw, Rule
from gnomon.testing.program import Program, Step, Value

Inner = Callable[[Draw, tuple[Value, ...], bool], Program]


def rules(inner: Inner) -> list[Rule]:
  """The rules, given what draws the programs inside."""
  return [
      _call("jit", gnomon.jit, inner),
      _call("checkpoint", gnomon.checkpoint, inner),
      _vmap(inner), _cond(inner), _scan(inner), _fori_loop(inner), _custom_jvp,
      _grad(inner)]


def _pick(draw: Draw, values: Sequence[Value]) -> tuple[int, Value]:
  place = int(draw(st.integers(0, len(values) - 1)))
  return place, values[place]


def _first(program: Program) -> Program:
  """The program with its first output only."""
  return dataclasses.replace(program, outputs=program.outputs[:1])


def _call(name: str, transform: Callable[..., Any], inner: Inner) -> Rule:
  def rule(draw: Draw, values: Sequence[Value]) -> Step:
    (i, v), (j, w) = _pick(draw, values), _pick(draw, values)
    body = _first(inner(draw, (v, w), True))
    wrapped = transform(body)
    return Step(name, lambda flag, x, y: wrapped(flag, x, y)[0],
                lambda flag, x, y: body.reference(flag, x, y)[0], (i, j),
                body.result(0), parts=(body,))
  return rule


def _vmap(inner: Inner) -> Rule:
  def rule(draw: Draw, values: Sequence[Value]) -> Step | None:
    places = [i for i, v in enumerate(values) if v.shape and math.prod(v.shape) <= 12]
    if not places:
      return None
    i = draw(st.sampled_from(places))
    j, w = _pick(draw, values)
    v = values[i]
    axis = draw(st.integers(0, len(v.shape) - 1))
    row = dataclasses.replace(v, shape=v.shape[:axis] + v.shape[axis + 1:])
    body = _first(inner(draw, (row, w), True))
    out = body.result(0)
    result = dataclasses.replace(out, shape=(v.shape[axis], *out.shape))

    def run(flag: Any, x: Any, y: Any) -> Any:
      return gnomon.vmap(body, (None, axis, None))(flag, x, y)[0]

    def reference(flag: int, x: Any, y: Any) -> Any:
      return np.stack([body.reference(flag, row, y)[0]
                       for row in np.moveaxis(x, axis, 0)])

    return Step(f"vmap[{axis}]", run, reference, (i, j), result, parts=(body,))
  return rule


def _cond(inner: Inner) -> Rule:
  def rule(draw: Draw, values: Sequence[Value]) -> Step:
    (i, v), least = _pick(draw, values), draw(st.integers(0, 3))
    # Both branches end with the operand's shape: each adds its sum to the operand.
    branches = [_first(inner(draw, (v,), True)) for _ in range(2)]

    def branch(body: Program) -> Callable[..., Any]:
      return lambda flag, x: lax.add(lax.sin(x), _spread(body(flag, x)[0], x.shape))

    def run(flag: Any, x: Any) -> Any:
      return lax.cond(lax.gt(flag, np.int32(least)), branch(branches[0]),
                      branch(branches[1]), flag, x)

    def reference(flag: int, x: Any) -> Any:
      body = branches[0 if flag > least else 1]
      return np.sin(x) + body.reference(flag, x)[0].mean()

    results = [body.result(0) for body in branches]
    return Step(
        f"cond[flag > {least}]", run, reference, (i,),
        Value(v.shape, 1 + max(r.bound for r in results),
              v.slope + max(r.slope for r in results)),
        parts=tuple(branches))
  return rule


def _spread(x: Any, shape: tuple[int, ...]) -> Any:
  """The mean of all elements, in another shape."""
  total = lax.reduce_sum(x, tuple(range(x.ndim)))
  return lax.broadcast_in_dim(lax.mul(total, 1 / math.prod(x.shape)), shape, ())


def _scan(inner: Inner) -> Rule:
  def rule(draw: Draw, values: Sequence[Value]) -> Step | None:
    places = [i for i, v in enumerate(values) if v.shape and v.shape[0] <= 3]
    if not places:
      return None
    i = draw(st.sampled_from(places))
    (j, w), xs, reverse = _pick(draw, values), values[i], draw(st.booleans())
    row = Value(xs.shape[1:], xs.bound, 1.0)
    carry = Value(w.shape, 1.0 + w.bound, 1.0)
    body = _first(inner(draw, (carry, row), True))
    if body.result(0).slope > 4:
      return None

    def step(flag: Any) -> Callable[..., Any]:
      def scanned(c: Any, x: Any) -> Any:
        out = _spread(body(flag, c, x)[0], c.shape)
        return lax.sin(lax.add(c, out)), out
      return scanned

    def run(flag: Any, xs: Any, c: Any) -> Any:
      last, outs = lax.scan(step(flag), c, xs, reverse=reverse)
      return lax.add(last, _spread(outs, last.shape))

    def reference(flag: int, xs: Any, c: Any) -> Any:
      outs = []
      for x in xs[::-1] if reverse else xs:
        outs.append(body.reference(flag, c, x)[0].mean())
        c = np.sin(c + outs[-1])
      return c + np.mean(outs)

    growth = (1 + body.result(0).slope) ** xs.shape[0]
    result = Value(w.shape, 1 + body.result(0).bound, growth * (w.slope + xs.slope))
    return Step(f"scan[reverse={reverse}]", run, reference, (i, j), result,
                parts=(body,))
  return rule


def _fori_loop(inner: Inner) -> Rule:
  def rule(draw: Draw, values: Sequence[Value]) -> Step | None:
    (i, v), count = _pick(draw, values), draw(st.integers(0, 3))
    body = _first(inner(draw, (Value(v.shape, 1.0 + v.bound),), True))
    if body.result(0).slope > 4:
      return None

    def run(flag: Any, x: Any) -> Any:
      return lax.fori_loop(
          0, count,
          lambda k, c: lax.sin(lax.add(c, _spread(body(flag, c)[0], c.shape))), x)

    def reference(flag: int, x: Any) -> Any:
      for _ in range(count):
        x = np.sin(x + body.reference(flag, x)[0].mean())
      return x

    growth = (1 + body.result(0).slope) ** count
    return Step(f"fori_loop[{count}]", run, reference, (i,),
                Value(v.shape, max(1.0, v.bound), growth * v.slope), parts=(body,))
  return rule


def _custom_jvp(draw: Draw, values: Sequence[Value]) -> Step:
  i, v = _pick(draw, values)

  @gnomon.custom_jvp
  def sine(x: Any) -> Any:
    return lax.sin(x)

  @sine.defjvp
  def _(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return sine(x), lax.mul(lax.cos(x), t)

  return Step("custom_jvp_sin", lambda _, x: sine(x), lambda _, x: np.sin(x), (i,),
              Value(v.shape, 1.0, v.slope))


def _grad(inner: Inner) -> Rule:
  def rule(draw: Draw, values: Sequence[Value]) -> Step | None:
    i, v = _pick(draw, values)
    body = _first(inner(draw, (dataclasses.replace(v, slope=1.0),), True))
    slope = body.result(0).slope
    if slope > 4:
      return None

    def run(flag: Any, x: Any) -> Any:
      def mean(x: Any) -> Any:
        return _spread(body(flag, x)[0], ())
      return gnomon.grad(mean)(x)

    def reference(flag: int, x: Any) -> Any:
      def along(k: int, step: float) -> Any:
        moved = np.array(x, np.float64)
        moved.flat[k] += step
        return body.reference(flag, moved)[0].mean()

      slopes = [(along(k, 1e-5) - along(k, -1e-5)) / 2e-5 for k in range(np.size(x))]
      return np.reshape(slopes, np.shape(x))

    # The gradient's own derivative is of the order of the slope squared.
    return Step("grad", run, reference, (i,),
                Value(v.shape, max(slope, 1.0), max(slope, 1.0)**2 * v.slope),
                accuracy=1e-6, parts=(body,))
  return rule
