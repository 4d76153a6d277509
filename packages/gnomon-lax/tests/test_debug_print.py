"""`debug.print`, `debug.callback`, `debug.log`: what is shown, when, how often."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import gnomon
from gnomon import debug, lax
from gnomon.ad_checkpoint import checkpoint_name


def eager(f):
  return f


both = pytest.mark.parametrize("wrap", [eager, gnomon.jit])
either = pytest.mark.parametrize("ordered", [False, True])


def shown(capsys, f, *args):
  """What a call prints, as lines."""
  capsys.readouterr()
  f(*args)
  return capsys.readouterr().out.splitlines()


@both
@pytest.mark.parametrize(("fmt", "args", "kwargs", "expected"), [
    ("x: {}", (2,), {}, "x: 2"), ("{x:.2f} {y:>4}", (), {"x": 2.0, "y": 3}, "2.00    3"),
    ("{0} {1} {0}", (1, 2), {}, "1 2 1"), ("{{}} none", (), {}, "{} none"),
    ("{a[k]} {t}", (), {"a": {"k": 1.5}, "t": (1, 2)}, None),
    ("{} {} {}", ("text", None, np.dtype("int32")), {}, "text None int32"),
    ("{}", (np.arange(3, dtype=np.float32),), {}, "[0. 1. 2.]"),
    ("{x!r}", (), {"x": np.float32(2)}, "Array(2., dtype=float32)"),
    ("{}", (np.zeros((0,), np.int32),), {}, "[]")])
def test_formats(capsys, wrap, fmt, args, kwargs, expected):
  lines = shown(capsys, wrap(lambda: debug.print(fmt, *args, **kwargs)))
  assert len(lines) == 1
  assert lines[0].startswith("1.5 (") if expected is None else lines == [expected]


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda: debug.print("{}", 1, 2), ValueError, r"Unused positional arguments.*\[2\]"),
    (lambda: debug.print("{a}", a=1, b=2), ValueError, "Unused keyword arguments.*'b'"),
    (lambda: debug.print("hello 3", x=3), ValueError, "You may be passing an f-string"),
    (lambda: debug.print("{a} {}"), KeyError, "a"),
    (lambda: debug.print("{}"), IndexError, "index"),
    (lambda: debug.print(3), TypeError, "fmt should be a string, got 3"),
    (lambda: debug.print(ordered=True)("{a}", a=1, partitioned=True), ValueError,
     r"Unused keyword arguments.*\['partitioned'\]"),
    (lambda: debug.print(ordered=True, a=2), TypeError, "debug_print received"),
    (lambda: debug.callback(None, 2), TypeError, "debug_callback received unexpected"),
    (lambda: debug.callback("text"), TypeError, "must be callable.*debug.print"),
    (lambda: debug.print("", ordered=True, partitioned=True), ValueError, "both"),
    (lambda: gnomon.jit(lambda x: debug.print("{:d}", x))(1.5), ValueError, "'d'")])
def test_errors(call, error, message):
  with pytest.raises(error, match=message):
    call()


def test_options_and_arguments_in_two_calls(capsys):
  lines = shown(capsys, lambda: debug.print(ordered=True)("{ordered}", ordered=3))
  assert lines == ["3"]
  seen = []
  debug.callback(ordered=True)(lambda x, ordered: seen.append((int(x), ordered)), 1,
                               ordered="o")
  assert seen == [(1, "o")]


def test_format_check_can_be_skipped(capsys):
  f = gnomon.jit(lambda x: debug.print("only {}", x, x, skip_format_check=True))
  assert shown(capsys, f, 1) == ["only 1"]


@both
def test_print_options_where_it_is_written(capsys, wrap):
  x = np.array([1.2345, 1e-7], np.float32)

  def f(x):
    with np.printoptions(precision=2, suppress=True):
      debug.print("{}", x)
    debug.print("{}", x)

  assert shown(capsys, wrap(f), x) == ["[1.23 0.  ]", "[1.2345e+00 1.0000e-07]"]


def test_callback_gets_arrays_and_other_things():
  seen = []

  @gnomon.jit
  def f(x):
    debug.callback(lambda *args, **kwargs: seen.append((args, kwargs)), x, "s", k=[None])

  f(2.0)
  ((x, s), kwargs), = seen
  assert isinstance(x, gnomon.Array)
  assert (float(x), s, kwargs) == (2.0, "s", {"k": [None]})


def test_log(caplog):
  f = gnomon.jit(lambda x: debug.log("x = {}", x))
  with caplog.at_level(logging.INFO, logger="gnomon.debug"):
    f(4)
  (record,) = caplog.records
  assert (record.getMessage(), record.levelno) == ("x = 4", logging.INFO)
  assert record.pathname == __file__


@either
def test_effects_of_programs(ordered):
  jaxpr = gnomon.make_jaxpr(lambda x: debug.print("{}", x, ordered=ordered))(1.0)
  kind = debug.OrderedDebugEffect if ordered else debug.DebugEffect
  assert [type(e) for e in jaxpr.effects] == [kind]
  name = "OrderedDebug" if ordered else "Debug"
  assert jaxpr.pretty_print(print_effects=True).endswith(f"in () : {{ {name} }} }}")


# ---- transformations


def square(x, ordered=False):
  y = lax.mul(x, x)
  debug.print("{}", y, ordered=ordered)
  return y


@either
@pytest.mark.parametrize(("transform", "args", "expected"), [
    (lambda f: lambda x: gnomon.jvp(f, (x,), (1.0,)), (3.0,), ["9.0"]),
    (gnomon.grad, (3.0,), ["9.0"]),
    (lambda f: gnomon.jit(gnomon.grad(gnomon.jit(f))), (3.0,), ["9.0"]),
    (lambda f: gnomon.grad(gnomon.grad(f)), (3.0,), ["9.0"]),
    (gnomon.vmap, (np.arange(3.0, dtype=np.float32),), ["0.0", "1.0", "4.0"]),
    (lambda f: gnomon.vmap(gnomon.grad(f)), (np.ones(2, np.float32),), ["1.0"] * 2),
    (lambda f: gnomon.grad(gnomon.checkpoint(f)), (3.0,), ["9.0"] * 2),
], ids=["jvp", "grad", "jit-grad-jit", "grad-grad", "vmap", "vmap-grad", "checkpoint"])
def test_once_in_the_forward_pass(capsys, ordered, transform, args, expected):
  f = transform(lambda x: square(x, ordered))
  for wrap in (eager, gnomon.jit):
    assert shown(capsys, wrap(f), *args) == expected


def test_vmap_along_other_axes(capsys):
  x = np.arange(6, dtype=np.int32).reshape(2, 3)
  f = gnomon.vmap(
      lambda a, b: debug.print("{} {}", a, b), in_axes=(1, None))
  assert shown(capsys, f, x, 7) == ["[0 3] 7", "[1 4] 7", "[2 5] 7"]
  g = gnomon.vmap(gnomon.vmap(lambda a: debug.print("{}", a)))
  assert sorted(shown(capsys, g, x)) == [str(i) for i in range(6)]


def test_tangents_where_a_rule_shows_them(capsys):
  @gnomon.custom_jvp
  def f(x):
    debug.print("plain {}", x)
    return x

  @f.defjvp
  def _(primals, tangents):
    debug.print("rule {} {}", *primals, *tangents)
    return primals[0], tangents[0]

  jitted = gnomon.jit(f)
  assert shown(capsys, jitted, 2.0) == ["plain 2.0"]
  lines = shown(capsys, lambda x: gnomon.jvp(jitted, (x,), (3.0,)), 2.0)
  assert lines == ["rule 2.0 3.0"]
  _y, linear = gnomon.linearize(f, 2.0)
  assert shown(capsys, linear, 5.0) == ["rule 2.0 5.0"]


def test_both_halves_of_custom_vjp(capsys):
  @gnomon.custom_vjp
  def f(x):
    debug.print("plain {}", x)
    return x

  def forward(x):
    debug.print("forward {}", x)
    return x, x

  def backward(x, ct):
    debug.print("backward {} {}", x, ct)
    return (ct,)

  f.defvjp(forward, backward)
  jitted = gnomon.jit(f)
  assert shown(capsys, jitted, 2.0) == ["plain 2.0"]
  assert shown(capsys, gnomon.grad(jitted), 2.0) == ["forward 2.0", "backward 2.0 1.0"]


def test_policies_say_whether_it_is_shown_again(capsys):
  def f(x):
    y = checkpoint_name(lax.add(x, 1.0), "y")
    z = checkpoint_name(lax.mul(y, 2.0), "z")
    debug.print("{} {}", y, z)
    return lax.exp(z)

  policies = gnomon.checkpoint_policies
  for policy, times in (
      (None, 2), (policies.nothing_saveable, 2), (policies.everything_saveable, 1),
      (policies.save_any_names_but_these("z"), 2),
      (lambda p, *_, **params: params.get("name") != "y", 1),
      (lambda p, *_, **params: params.get("name") not in ("y", "z"), 2)):
    g = gnomon.grad(gnomon.checkpoint(f, policy=policy))
    assert shown(capsys, g, 2.0) == ["3.0 6.0"] * times
    assert shown(capsys, gnomon.grad(gnomon.checkpoint(gnomon.jit(f))), 2.0) == [
        "3.0 6.0"] * 2


# ---- control flow


def _loops(x, show):
  return {
      "scan": (lambda: lax.scan(lambda c, y: (show(c), (lax.add(c, y), c))[1], x,
          np.arange(3, dtype=np.int32)), ["0", "0", "1"]),
      "scan-grad": (lambda: gnomon.grad(lambda z: lax.scan(
          lambda c, y: (show(c), (lax.mul(c, y), c))[1], z, np.ones(
              3, np.float32))[0])(2.0), ["2.0"] * 3),
      "unrolled": (lambda: lax.fori_loop(
          0, 4, lambda i, c: (show(i), c)[1], x, unroll=2), list("0123")),
      "while": (lambda: lax.while_loop(
          lambda c: lax.lt(c, 3), lambda c: (show(c), lax.add(c, 1))[1], x), list("012")),
      "condition": (lambda: lax.while_loop(
          lambda c: (show(c), lax.lt(c, 3))[1], lambda c: lax.add(c, 1),
          x), list("0123")),
      "false": (lambda: lax.while_loop(
          lambda c: (show(c), lax.lt(c, 0))[1], lambda c: lax.add(c, 1), x), ["0"]),
      "cond": (lambda: lax.cond(lax.lt(x, 1), show, lambda _: show(9), x), ["0"]),
      "switch": (lambda: lax.switch(
          lax.add(x, 2), [lambda: show(10), lambda: None, lambda: show(12)]), ["12"]),
      "empty": (lambda: lax.scan(lambda c, _: (show(c), (c, None))[1], x, None, 0), []),
      "vmap-scan": (lambda: gnomon.vmap(lambda z: lax.scan(
          lambda c, _: (show(c), (lax.add(c, 1), None))[1], z, None, 2))(
              np.asarray([0, 10], np.int32)), ["0", "10", "1", "11"]),
      # An element that is done stays as it is, while the others go on.
      "vmap-while": (lambda: gnomon.vmap(lambda z: lax.while_loop(
          lambda c: lax.lt(c, 2), lambda c: (show(c), lax.add(c, 1))[1], z))(
              np.asarray([0, 1], np.int32)), ["0", "1", "1", "2"])}


@either
@both
@pytest.mark.parametrize("name", list(_loops(0, None)))
def test_in_control_flow(capsys, wrap, ordered, name):
  def f(x):
    call, _ = _loops(x, lambda v: debug.print("{}", v, ordered=ordered))[name]
    call()

  lines = shown(capsys, wrap(f), 0)
  expected = _loops(0, None)[name][1]
  assert (lines if ordered else sorted(lines)) == (
      expected if ordered else sorted(expected))


def test_condition_of_a_mapped_loop_is_shown_once_a_round(capsys):
  f = gnomon.vmap(lambda x: lax.while_loop(
      lambda c: (debug.print("{}", c, ordered=True), lax.lt(c, 3))[1],
      lambda c: lax.add(c, 1), x))
  y = []
  lines = shown(capsys, lambda x: y.append(f(x)), np.asarray([0, 2], np.int32))
  assert lines == ["0", "2", "1", "3", "2", "4", "3", "4"]
  np.testing.assert_array_equal(np.asarray(y[0]), [3, 3])
