"""The key-reuse checker: what it finds, and what it leaves alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp
from gnomon import lax, random
from gnomon.errors import KeyReuseError
from gnomon.experimental.key_reuse import check_key_reuse

KEY = random.key(0)


def renewed(carry: Any, _: Any) -> Any:
  carry, key = random.split(carry)
  return carry, random.bits(key)


def sliced(key: Any) -> Any:
  a, b = random.split(key)
  return random.uniform(a) + random.uniform(b) + random.bits(random.fold_in(key, 1))


def drawn(state: Any) -> Any:
  key, sub = random.split(state[0])
  return key, state[1] + random.uniform(sub)


GOOD: list[Callable[[Any], Any]] = [
    sliced,
    lambda k: [random.uniform(random.fold_in(k, i)) for i in range(3)],
    lambda k: (random.key_data(k), k == KEY, random.bits(k)),
    lambda k: (random.bits(k), random.bits(random.clone(k))),
    lambda k: lax.scan(renewed, k, None, 5),
    lambda k: lax.map(random.bits, random.split(k, 4)),
    lambda k: lax.cond(True, random.uniform, random.normal, k),
    lambda k: gnomon.vmap(random.normal)(random.split(k, (3,))),
    lambda k: gnomon.vmap(sliced)(random.split(k, 0)),
    lambda k: lax.while_loop(lambda s: s[1] < 3, drawn, (k, 0.0)),
    lambda k: gnomon.grad(gnomon.checkpoint(lambda w: w * random.normal(k)))(2.0),
    lambda k: gnomon.grad(lambda w: w * random.gamma(k, w))(2.0),
    lambda k: random.permutation(k, 50)]


@pytest.mark.parametrize("function", GOOD)
def test_programs_that_use_each_key_once(function: Callable[[Any], Any]) -> None:
  check_key_reuse(function, KEY)
  with gnomon.debug_key_reuse(True):
    gnomon.jit(function)(random.key(1))


BAD: list[tuple[Callable[[Any], Any], str]] = [
    (lambda k: random.bits(k) + random.bits(k), "In random_bits, argument 0 is already"),
    (lambda k: random.uniform(k) + random.normal(k), "In jit, argument 0 is already"),
    (lambda k: (random.split(k), random.bits(k)), "In random_bits"),
    (lambda k: random.bits(k) + gnomon.vmap(random.bits)(k[None])[0], "In random_bits"),
    (lambda k: random.bits(k) + random.bits(k.reshape(1).squeeze()), "In random_bits"),
    (lambda k: [random.bits(random.split(k, 3)[i]) for i in (0, 0)], "In random_split"),
    (lambda k: [random.bits(s[i]) for s in [random.split(k, 3)] for i in (0, 2, 0)],
     "In random_bits"),
    (lambda k: [
        (random.bits(s[1]), lax.map(random.bits, s)) for s in [random.split(k)]],
     "In scan"),
    (lambda k: lax.cond(True, random.uniform, lambda k: 1.0, k) + random.uniform(k),
     "In jit"),
    (lambda k: lax.scan(lambda c, _: (c, random.uniform(k)), None, None, 3),
     "scan body function leads to key reuse"),
    (lambda k: lax.scan(lambda c, _: (c, random.bits(c)), k, None, 3),
     "scan body function leads to key reuse"),
    (lambda k: lax.while_loop(lambda i: i < random.uniform(k), lambda i: i + 1, 0),
     "while_loop cond function leads to key reuse"),
    (lambda k: lax.while_loop(
        lambda s: s[1] < 5, lambda s: (s[0], s[1] + random.randint(s[0], (), 1, 3)),
        (k, 0)), "while_loop body function leads to key reuse"),
    (lambda k: gnomon.checkpoint(lambda x: x * random.bits(k) + random.bits(k))(
        np.float32(1)), "In random_bits")]


@pytest.mark.parametrize(("function", "message"), BAD)
def test_programs_that_use_a_key_twice(
    function: Callable[[Any], Any], message: str) -> None:
  with pytest.raises(KeyReuseError, match=message):
    check_key_reuse(function, KEY)
  gnomon.jit(function)(KEY)  # the option is off
  with gnomon.debug_key_reuse(True), pytest.raises(KeyReuseError, match=message):
    gnomon.jit(function)(random.key(1))


def test_both_uses_are_named_by_line() -> None:
  def program(key: Any) -> Any:
    first = random.uniform(key)
    return first + random.normal(key)

  line = inspect.getsourcelines(program)[1]
  for check in (lambda: check_key_reuse(program, KEY), lambda: eager(program)):
    with pytest.raises(KeyReuseError) as e:
      check()
    file = __file__.rpartition("/")[2]
    assert f"{file}:{line + 1} (" in str(e.value)
    assert f"again at {__file__}:{line + 2} (" in str(e.value)


def eager(program: Callable[[Any], Any]) -> None:
  with gnomon.debug_key_reuse(True):
    program(random.key(2))


def test_keys_outside_programs() -> None:
  with gnomon.debug_key_reuse(True):
    key = random.key(3)
    other = random.clone(key)
    random.uniform(key)
    assert key._consumed
    assert not other._consumed
    message = "Previously-consumed key passed to jit-compiled function at index 0"
    for reuse in (lambda: random.normal(key), lambda: gnomon.jit(random.bits)(key)):
      with pytest.raises(KeyReuseError, match=message):
        reuse()
    with pytest.raises(KeyReuseError, match="key passed to random_split at index 0"):
      random.split(key)
    keys = random.split(other, 3)
    random.bits(keys[1])
    assert keys._consumed.tolist() == [False, True, False]
    random.normal(keys[0])
    with pytest.raises(KeyReuseError):
      gnomon.vmap(random.bits)(keys)
    kept = random.key(4)
    closed = gnomon.jit(lambda: random.uniform(kept))
    closed()
    with pytest.raises(KeyReuseError, match=message):
      closed()
  random.uniform(key)
  assert gnp.all(random.bits(KEY) == random.bits(KEY))
