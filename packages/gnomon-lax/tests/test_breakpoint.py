"""`debug.breakpoint` with scripted input."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest

import gnomon
from gnomon import debug, lax

data = 2  # is data among the globals, which are not shown


def session(program, *commands, **options):
  """What the debugger writes while `program(stop)` runs, and these commands are given."""
  given, out = io.StringIO("".join(c + "\n" for c in commands)), io.StringIO()
  program(lambda: debug.breakpoint(stdin=given, stdout=out, **options))
  return out.getvalue()


def inner(stop, y):
  z = {"a": [y, 3], "text": "t"}
  stop()
  return y, z["a"][1]


def outer(stop):
  @gnomon.jit
  def f(x):
    y = lax.add(x, 1.0)
    return inner(stop, y)[0]

  f(2.0)


def answers(text):
  assert text.startswith("Entering jdb:\n(jdb) ")
  assert text.endswith("(jdb) ")
  return text.removeprefix("Entering jdb:\n(jdb) ").removesuffix("(jdb) ").split("(jdb) ")


@pytest.mark.parametrize(("command", "answer"), [
    ("p y", "Array(3., dtype=float32, weak_type=True)\n"),
    ("y", "Array(3., dtype=float32, weak_type=True)\n"),
    ("p z['a'][1], z['text']", "(3, 't')\n"), ("1 + 1", "2\n"),
    ("p float(y) + float(lax.neg(y))", "0.0\n"),
    ("p [i for i in range(2) if y]", "[0, 1]\n"),
    ("p np.asarray(y) * 2", f"{np.float32(6)!r}\n"),
    ("pp {i: 'x' * 30 for i in range(3)}", "{" + ",\n ".join(
        f"{i}: '{'x' * 30}'" for i in range(3)) + "}\n"),
    ("p nothing", "*** NameError: name 'nothing' is not defined\n"),
    ("p data", "*** NameError: name 'data' is not defined\n"),
    ("p 1 +", "*** SyntaxError: invalid syntax\n"), ("", ""),
    ("p 1 / 0", "*** ZeroDivisionError: division by zero\n")])
def test_values(command, answer):
  assert answers(session(outer, "u", command, "c")) [1] == answer


def test_frames_and_source():
  up = "u"
  text = session(outer, "l", up, "p x", up, up, "d", "d", "d", "d", "d", "c")
  found = answers(text)
  assert re.match(r"> .*test_breakpoint.py\(\d+\)\n->    program\(lambda:", found[0])
  assert "->    stop()\n" in found[1]
  assert "    def inner(stop, y):\n" in found[1]
  assert found[2] == "*** NameError: name 'x' is not defined\n"
  assert "->      return inner(stop, y)[0]\n" in found[3]
  assert found[-1].startswith("At bottommost frame.\n> ")
  one = answers(session(outer, "up", "down", "c", num_frames=1))
  assert one[0].startswith("At topmost frame.\n> ")


def test_stack():
  for command in ("w", "where", "bt"):
    (text,) = answers(session(outer, command, "c"))
    assert text.startswith("Traceback:\n")
    calls = [line.strip() for line in text.splitlines()[2::2]]
    assert calls[-4:-1] == ["f(2.0)", "return inner(stop, y)[0]", "stop()"]


@pytest.mark.parametrize("command", ["q", "quit", "EOF", None])
def test_quit(command):
  commands = () if command is None else (command,)
  for program in (outer, lambda stop: stop()):
    with pytest.raises(SystemExit):
      session(program, *commands)
  assert float(gnomon.jit(lax.neg)(1.0)) == -1.0


@pytest.mark.parametrize("command", ["c", "cont", "continue"])
def test_going_on(command):
  assert answers(session(outer, command)) == [""]
  assert answers(session(lambda stop: inner(stop, 1), "u", "p y", command))[1] == "1\n"


def test_each_element_and_each_step():
  def mapped(stop):
    def f(x):
      y = lax.mul(x, 2.0)
      stop()
      return y

    gnomon.jit(gnomon.vmap(f))(np.arange(2, dtype=np.float32))

  def looped(stop):
    def f(y, _):
      stop()
      return lax.mul(y, 2.0), None

    lax.scan(f, 1.0, None, 2)

  for program, expected in ((mapped, ["0.", "2."]), (looped, ["1.", "2."])):
    text = session(program, "u", "p y", "c", "u", "p y", "c", ordered=True)
    assert re.findall(r"Array\((\S+), ", text) == expected


def test_values_that_cannot_be_shown():
  kept = []
  gnomon.jit(lambda x: kept.append(x))(2.0)  # noqa: PLW0108 -- a list is no function

  def program(stop):
    @gnomon.jit
    def f(x):
      odd = {(lambda: 0): x, (lambda: 1): 2}
      ref, leaked = gnomon.new_ref(x), kept[0]
      stop()
      return gnomon.freeze(ref), len(odd), leaked is x

    f(1.0)

  text = session(program, "u", "p odd", "p ref", "p leaked", "p x", "c")
  assert answers(text)[1:] == [
      "<cant_flatten>\n", "<Ref{float32[]}, not available>\n",
      "<~float32[], not available>\n", "Array(1., dtype=float32, weak_type=True)\n"]


def test_unknown_backend():
  with pytest.raises(ValueError, match="unknown backend 'web'"):
    debug.breakpoint(backend="web")
