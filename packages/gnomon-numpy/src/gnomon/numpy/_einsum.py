"""Einstein's summation convention: `einsum`, `einsum_path`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon import lax
from gnomon.core.structural import convert
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled, freeze
from gnomon.numpy._contraction import (
  Labels,
  Options,
  alone,
  arranged,
  contract,
  result_dtype,
)
from gnomon.numpy._promotion import check_arraylike
from gnomon.numpy._values import array_of, refuse_out

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

# ---- subscripts


def _of_lists(first: Any, rest: Sequence[Any]) -> tuple[str, tuple[Any, ...]]:
  """The form `einsum(x, [0, 1], y, [1, 2], [0, 2])` as a string and operands."""
  parts = [first, *rest]
  out = parts.pop() if len(parts) % 2 else None
  operands, lists = tuple(parts[::2]), parts[1::2]

  def word(labels: Any) -> str:
    try:
      return "".join(["..." if i is Ellipsis else _LETTERS[i] for i in labels])
    except (TypeError, IndexError) as e:
      raise ValueError(
          f"einsum: labels must be integers from 0 to {len(_LETTERS) - 1} or Ellipsis, "
          "got "
          f"{labels!r}") from e

  text = ",".join(map(word, lists))
  return (text if out is None else f"{text}->{word(out)}"), operands


def _terms(subscripts: str, ndims: Sequence[int]) -> tuple[list[Labels], Labels]:
  """The labels of the axes of each operand, and of the result's; of `...` numbers."""
  text = "".join(subscripts.split())
  left, arrow, right = text.partition("->")
  words = left.split(",")
  if len(words) != len(ndims):
    raise ValueError(
        f"Number of einsum subscripts, {len(words)}, must be equal to the number of "
        f"operands, {len(ndims)}: {subscripts!r}")
  named = [_labels(w, n, i, subscripts) for i, (w, n) in enumerate(zip(words, ndims))]
  most = max([len([a for a in t if isinstance(a, int)]) for t in named], default=0)
  # Numbers count from the last axis of `...`, where operands are aligned.
  dots = tuple(range(most))[::-1]
  if not arrow:
    every = [a for t in named for a in t if isinstance(a, str)]
    return named, (*dots, *sorted(a for a in set(every) if every.count(a) == 1))
  out = _output(right, dots, subscripts)
  for a in out:
    if not any(a in t for t in named):
      raise ValueError(
          f"Output character {a!r} did not appear in the input: {subscripts!r}")
  if len(set(out)) != len(out):
    twice = next(a for a in out if out.count(a) > 1)
    raise ValueError(
        f"Output character {twice!r} appeared more than once in the output: "
        f"{subscripts!r}")
  return named, out


def _labels(word: str, ndim: int, i: int, subscripts: str) -> Labels:
  before, dots, after = word.partition("...")
  if not (before + after).isalpha() and before + after:
    raise ValueError(
        f"einsum: subscripts hold letters, commas, '...' and '->', got {subscripts!r}")
  count = ndim - len(before) - len(after)
  if count < 0 or (count and not dots):
    raise ValueError(
        f"Einstein sum subscript {word!r} does not contain the correct number of indices "
        f"for operand {i}, which has {ndim} dimensions")
  return (*before, *range(count - 1, -1, -1), *after)


def _output(word: str, dots: tuple[int, ...], subscripts: str) -> Labels:
  before, ellipsis, after = word.partition("...")
  if not (before + after).isalpha() and before + after:
    raise ValueError(f"einsum: the output must be letters and '...', got {subscripts!r}")
  return (*before, *(dots if ellipsis else ()), *after)


# ---- paths


def _path(subscripts: str, operands: Sequence[Any], optimize: Any) -> list[tuple[int,
    ...]]:
  """Which operands to contract, step by step; results come last in the list."""
  n = len(operands)
  if n <= 2 or optimize is False:
    return [tuple(range(n))]
  import opt_einsum  # only here: few programs contract more than two arrays
  path, _ = opt_einsum.contract_path(
      subscripts, *[typeof(x).shape for x in operands], shapes=True,
      optimize=_optimizer(optimize))
  return list(path)


def _optimizer(optimize: Any) -> Any:
  if isinstance(optimize, tuple):
    steps = optimize[1:] if optimize and optimize[0] == "einsum_path" else optimize
    return [tuple(step) for step in steps]
  return "auto" if optimize is True else optimize


def _check_sizes(named: Sequence[Labels], operands: Sequence[Any]) -> None:
  sizes: dict[Any, int] = {}
  for i, (labels, x) in enumerate(zip(named, operands)):
    for a, n in zip(labels, typeof(x).shape):
      known = sizes.setdefault(a, n)
      if n != known and 1 not in (n, known):
        raise ValueError(
            f"Size of label {a!r} for operand {i} ({n}) does not match previous terms "
            f"({known})")
      sizes[a] = max(n, known) if n and known else 0


def _evaluate(
    operands: list[Any], named: list[Labels], out: Labels, path: Sequence[Sequence[int]],
    options: Options) -> Any:
  work = list(zip(operands, named))
  for number, step in enumerate(path):
    chosen = [work[i] for i in step]
    work = [pair for i, pair in enumerate(work) if i not in step]
    others = {a for _, labels in work for a in labels}
    x, labels = chosen[0]
    for j, (y, y_labels) in enumerate(chosen[1:], 2):
      keep = {*out, *others, *(a for _, more in chosen[j:] for a in more)}
      last = number == len(path) - 1 and j == len(chosen)
      x, labels = contract(x, labels, y, y_labels, keep, options, out if last else None)
    if len(chosen) == 1:
      x, labels = alone(x, labels, {*out, *others})
    work.append((x, labels))
  return arranged(*work[0], out)


# ---- public functions


def einsum(
    subscripts: Any, /, *operands: Any, out: None = None, optimize: Any = "auto",
    precision: Any = None, preferred_element_type: Any = None,
    _dot_general: Any = lax.dot_general, out_sharding: Any = None) -> Any:
  """Sums of products, written by naming axes.

  `"ij,jk->ik"`: axes of one letter run together, and those not named after `->` are
  summed over. Without `->`, the result has the letters that occur once, in alphabetical
  order. `...` stands for axes that are not named; they broadcast.

  Args:
    subscripts: the letters; or the first operand, followed by a list of integers for its
      axes, and so on: `einsum(x, [0, 1], y, [1, 2], [0, 2])`.
    operands: arrays; dtypes are promoted.
    out: not supported.
    optimize: in which order to contract more than two operands: `"auto"`, `"greedy"`,
      `"optimal"` or another of opt_einsum's; a path from `einsum_path`; False for the
      order in which they are given.
    precision: how exactly accelerators multiply; see `gnomon.lax.Precision`.
    preferred_element_type: the dtype of sums and of the result.
    out_sharding: how the result is laid out over devices; None without a mesh.

  >>> import gnomon.numpy as gnp
  >>> gnp.einsum("ij,j->i", gnp.array([[1, 2], [3, 4]]), gnp.array([1, 1])).tolist()
  [3, 7]

  Raises:
    ValueError: the subscripts cannot be understood, or do not fit the operands.
    TypeError: an operand is no array and no number.
    NotImplementedError: `out` is given.
  """
  refuse_out("einsum", out)
  if not isinstance(subscripts, str):
    subscripts, operands = _of_lists(subscripts, operands)
  check_arraylike("einsum", *operands)
  return _einsum(
      operands, subscripts, freeze(optimize),
      Options(
          precision, preferred_element_type, out_sharding,
          None if _dot_general is lax.dot_general else _dot_general))


@compiled(static=("subscripts", "optimize", "options"))
def _einsum(
    operands: tuple[Any, ...], subscripts: str, optimize: Any, options: Options) -> Any:
  xs = [array_of(x) for x in operands]
  named, out = _terms(subscripts, [typeof(x).ndim for x in xs])
  _check_sizes(named, xs)
  dtype, weak = result_dtype(options.preferred_element_type, *xs)
  value = _evaluate(xs, named, out, _path(subscripts, xs, optimize), options)
  return convert(value, dtype, weak)


def einsum_path(
    subscripts: Any, /, *operands: Any, optimize: Any = "auto") -> tuple[Any, Any]:
  """The order in which `einsum` contracts its operands, and what it costs.

  Args:
    subscripts: as for `einsum`.
    operands: as for `einsum`; only shapes matter.
    optimize: as for `einsum`.

  >>> import gnomon.numpy as gnp
  >>> x = gnp.ones((2, 2))
  >>> gnp.einsum_path("ij,jk,kl->il", x, x, x)[0]
  [(0, 1), (0, 1)]

  Returns:
    The path, to be given as `optimize`, and a description to print.

  Raises:
    ValueError: the subscripts cannot be understood, or do not fit the operands.
  """
  if not isinstance(subscripts, str):
    subscripts, operands = _of_lists(subscripts, operands)
  check_arraylike("einsum_path", *operands)
  import opt_einsum  # only here: few programs contract more than two arrays
  path, info = opt_einsum.contract_path(
      subscripts, *[typeof(x).shape for x in operands], shapes=True,
      optimize=_optimizer(freeze(optimize)))
  return path, info
