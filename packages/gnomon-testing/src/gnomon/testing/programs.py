"""Strategies for hypothesis that draw whole random programs, and their check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis
import numpy as np
from hypothesis import strategies as st

import gnomon
from gnomon import tree_util
from gnomon.testing import _program_nested, _program_steps
from gnomon.testing.batching import check_vmap
from gnomon.testing.derivatives import check_grads
from gnomon.testing.program import FLAGS, Program, Shape, Step, Value
from gnomon.testing.tolerance import assert_close

_LIMIT = Value((), bound=8.0, slope=40.0)
_KINK = 1e-3  # finite differences must not step over a place without derivative

shapes: st.SearchStrategy[Shape] = st.lists(
    st.integers(1, 3), max_size=3).map(tuple)


@st.composite
def programs(
    draw: Callable[..., Any], min_ops: int = 10, max_ops: int = 40, *,
    inputs: tuple[Value, ...] | None = None, nested: bool = True,
    smooth: bool = False) -> Program:
  """Draws programs whose shapes and dtypes fit.

  Values and derivatives stay moderate, so that finite differences are accurate.

  Args:
    draw: hypothesis gives this.
    min_ops: the least number of steps.
    max_ops: the greatest number.
    inputs: the inputs; by default one to three are drawn.
    nested: whether steps may hold programs: `jit`, `vmap`, `checkpoint`, `cond`,
      `scan`, `fori_loop`, `custom_jvp`, `grad`.
    smooth: whether to leave out ops that have no derivative somewhere.

  >>> import hypothesis
  >>> @hypothesis.settings(max_examples=2, database=None)
  ... @hypothesis.given(programs(2, 3))
  ... def test(program):
  ...   assert 2 <= len(program.steps) <= 3
  >>> test()
  """
  if inputs is None:
    inputs = tuple(map(Value, draw(st.lists(shapes, min_size=1, max_size=3))))
  values, steps = list(inputs), []
  rules = [*_program_steps.SMOOTH, *(() if smooth else _program_steps.KINKED)]
  # The rules with programs inside are few and slow: they come up less often.
  choice = st.sampled_from([*rules, *rules, *_NESTED] if nested else rules)
  for _ in range(draw(st.integers(min_ops, max_ops))):
    step = draw(choice)(draw, values)
    if step is None or not _is_tame(step):
      step = _program_steps.squash(draw, values)
    steps.append(step)
    values.append(step.result)
  last = len(values) - 1
  others = draw(st.lists(st.integers(0, last), max_size=2))
  return Program(inputs, tuple(steps), (last, *others))


def _is_tame(step: Step) -> bool:
  return step.result.bound <= _LIMIT.bound and step.result.slope <= _LIMIT.slope


def _inner(draw: Callable[..., Any], inputs: tuple[Value, ...], smooth: bool) -> Program:
  """A short program for the inside of a step."""
  return draw(programs(1, 5, inputs=inputs, nested=False, smooth=smooth))  # type: ignore[no-any-return]


_NESTED = _program_nested.rules(_inner)


def check_program(program: Program, seed: int = 0, *, order: int = 2) -> None:
  """Checks a program across transformations, in double precision.

  Eager against NumPy; compiled against eager; `vmap` against a loop; forward mode
  against finite differences, reverse against forward, in all mixtures to `order`;
  compiled and batched gradients against eager ones; `linearize` against `jvp`.

  Raises:
    AssertionError: two of these disagree. `print(program)` shows the program.
    ValueError: the seed's inputs are at a place without derivative; in a test of
      hypothesis, such a program is passed over.
  """
  flag, *inputs = program.draw_args(seed)
  if program.margin(int(flag), *inputs) < _KINK:
    if hypothesis.currently_in_test_context():
      hypothesis.reject()
    raise ValueError(
        f"check_program: with seed={seed} the inputs are at a place where the program "
        "has no derivative; try another seed")
  with gnomon.enable_x64(True):
    check_values(program, flag, inputs)
    check_batched(program, flag, inputs, seed)
    check_derivatives(program, flag, inputs, order)


def check_values(program: Program, flag: Any, inputs: list[Any]) -> None:
  """Eager, compiled and in NumPy, a program gives the same."""
  eager = program(flag, *inputs)
  for i, out in enumerate(eager):
    assert np.shape(out) == program.result(i).shape, (i, np.shape(out), program)
  _close(eager, program.reference(int(flag), *inputs), "eager against NumPy",
         program.accuracy)
  _close(gnomon.jit(program)(flag, *inputs), eager, "jit against eager")


def check_batched(program: Program, flag: Any, inputs: list[Any], seed: int) -> None:
  """`vmap`, also compiled, is a loop; over axes that the seed chooses."""
  rng = np.random.default_rng(seed)
  size = 2
  axes: list[int | None] = [
      None if rng.integers(4) == 0 else int(rng.integers(np.ndim(x) + 1))
      for x in inputs]
  flags = np.asarray(rng.integers(FLAGS, size=size), np.int32)
  batched = [
      x if axis is None
      else np.stack([x, *rng.uniform(-1, 1, (size - 1, *x.shape))], axis)
      for x, axis in zip(inputs, axes, strict=True)]
  flag_axis = None if rng.integers(2) == 0 and any(a is not None for a in axes) else 0
  args = [flag if flag_axis is None else flags, *batched]
  in_axes = (flag_axis, *axes)
  out_axes = [int(rng.integers(len(program.result(i).shape) + 1))
              for i in range(len(program.outputs))]
  check_vmap(program, args, in_axes, out_axes, atol=1e-9, rtol=1e-9)
  mapped = gnomon.vmap(program, in_axes)
  _close(gnomon.jit(mapped)(*args), mapped(*args), "jit of vmap against vmap")

  def gradient(flag: Any, *xs: Any) -> Any:
    return _pulled(program, flag, xs)

  check_vmap(gradient, args, in_axes, atol=1e-7, rtol=1e-7)


def check_derivatives(
    program: Program, flag: Any, inputs: list[Any], order: int) -> None:
  """Derivatives in all modes, their compiled forms, and `linearize`."""
  def f(*xs: Any) -> list[Any]:
    return program(flag, *xs)

  check_grads(f, tuple(inputs), order, atol=2e-4, rtol=2e-4)
  _close(gnomon.jit(lambda *xs: _pulled(program, flag, xs))(*inputs),
         _pulled(program, flag, tuple(inputs)), "jit of vjp against vjp", 1e-7)
  tangents = tuple(np.cos(x + 0.3) for x in inputs)
  values, pushed = gnomon.jvp(f, tuple(inputs), tangents)
  linear_values, linear = gnomon.linearize(f, *inputs)
  _close(linear_values, values, "linearize against jvp: values")
  _close(linear(*tangents), pushed, "linearize against jvp: tangents", 1e-7)


def _pulled(program: Program, flag: Any, inputs: tuple[Any, ...]) -> Any:
  """The outputs, and the pull-back of fixed cotangents."""
  outs, pull_back = gnomon.vjp(lambda *xs: program(flag, *xs), *inputs)
  cotangents = [np.cos(np.arange(float(np.size(out)))).reshape(np.shape(out))
                for out in outs]
  return outs, pull_back(cotangents)


def _close(actual: Any, expected: Any, message: str, tolerance: float = 1e-9) -> None:
  assert_close(tree_util.tree_map(np.asarray, actual), expected, atol=tolerance,
               rtol=tolerance, message=message)
