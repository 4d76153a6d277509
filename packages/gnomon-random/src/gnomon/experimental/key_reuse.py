"""Checking that no random key is used twice.

While the option `jax_debug_key_reuse` is on (`with gnomon.debug_key_reuse(True):`), a
call that uses a key again raises `gnomon.errors.KeyReuseError`, which names both lines.
`check_key_reuse` looks at one function, without running it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gnomon.random import _reuse

__all__ = ["check_key_reuse"]


def check_key_reuse(fun: Callable[..., Any], *args: Any) -> None:
  """Checks that a function uses no random key twice; it is traced, and not run.

  Drawing, and splitting, use a key; `gnomon.random.fold_in`, `key_data` and comparing do
  not, and what `gnomon.random.clone` returns counts as new. A key that a loop does not
  renew is used twice.

  Args:
    fun: the function.
    args: its arguments, whose keys count as new.

  >>> from gnomon import random
  >>> from gnomon.experimental.key_reuse import check_key_reuse
  >>> check_key_reuse(lambda key: random.normal(key) + random.uniform(key), random.key(0))
  Traceback (most recent call last):
    ...
  gnomon.errors.KeyReuseError: In jit, argument 0 is already consumed: ...

  Raises:
    KeyReuseError: a key is used twice; both uses are named by their lines.
  """
  _reuse.check_function(fun, *args)
