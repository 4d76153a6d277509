"""Records random numbers as data for the tests of `gnomon-random`.

Run it under JAX, as `python tools/under_jax.py tools/record_random_vectors.py` in an
environment with `jax==0.10.2`. Every line of the data is a call and what it gave,
as `packages/gnomon-random/tests/test_vectors.py` reads it.
"""

from __future__ import annotations

import base64
import itertools
import json
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path

import ml_dtypes
import numpy as np

import gnomon
from gnomon import random

DATA = Path(__file__).parents[1] / "packages" / "gnomon-random" / "tests" / "data"
SHAPES = ((), (0,), (1,), (3,), (4, 0), (7,), (16,), (2, 3, 5))
SIGNED = (np.int8, np.int16, np.int32)
UNSIGNED = (np.uint8, np.uint16, np.uint32)
WIDE = (np.int64, np.uint64)
FLOATS = (np.float32, np.float16, ml_dtypes.bfloat16)


@dataclass
class Case:
  """A call of `gnomon.random.<function>`, whose key comes from `seed`.

  `maker` makes the key (`key` or `PRNGKey`); without one the call has no key.
  `mapped` keys are split off and the call is mapped over them.
  """

  function: str
  args: tuple[object, ...] = ()
  kwargs: dict[str, object] = field(default_factory=dict)
  seed: int = 0
  maker: str | None = "key"
  x64: bool = False
  mapped: int = 0

  def call(self) -> gnomon.Array:
    """What it gives."""
    function = getattr(random, self.function)
    if self.maker is None:
      return function(*self.args, **self.kwargs)
    key = getattr(random, self.maker)(self.seed)
    if not self.mapped:
      return function(key, *self.args, **self.kwargs)
    keys = random.split(key, self.mapped)
    return gnomon.vmap(lambda k: function(k, *self.args, **self.kwargs))(keys)

  def record(self) -> dict[str, object]:
    """The call and its outcome in the types of JSON; what is default is left out."""
    simple = [f for f in fields(self) if f.name not in ("args", "kwargs")]
    line = {f.name: getattr(self, f.name) for f in simple}
    line = {f.name: line[f.name] for f in simple if line[f.name] != f.default}
    if self.args:
      line["args"] = [encode(a) for a in self.args]
    if self.kwargs:
      line["kwargs"] = {k: encode(a) for k, a in self.kwargs.items()}
    with gnomon.enable_x64(self.x64), warnings.catch_warnings(record=True) as caught:
      warnings.simplefilter("always")
      try:
        line["result"] = encode_result(self.call())
      except (TypeError, ValueError, OverflowError) as e:
        line["raises"] = type(e).__name__
    if caught:
      line["warns"] = caught[0].category.__name__
    return line


def encode(value: object) -> object:
  """An argument: arrays and dtypes become objects that name what they are."""
  if isinstance(value, np.ndarray | np.generic):
    return {"array": value.tolist(), "dtype": value.dtype.name}
  if isinstance(value, type):
    return {"dtype": np.dtype(value).name}
  if isinstance(value, tuple):
    return {"tuple": list(value)}
  return value


def encode_result(result: gnomon.Array) -> dict[str, object]:
  """An array as dtype, shape and the bytes of its elements; keys as their words."""
  keys = gnomon.dtypes.issubdtype(result.dtype, gnomon.dtypes.prng_key)
  array = np.asarray(random.key_data(result) if keys else result)
  data = base64.b64encode(array.astype(array.dtype.newbyteorder("<")).tobytes()).decode()
  kind = {"keys": True} if keys else {}
  return kind | {"dtype": array.dtype.name, "shape": list(array.shape), "data": data}


def keys() -> Iterator[Case]:
  """Seeds, splitting, folding in."""
  seeds = (0, 1, 42, -1, -(2**31), 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40, 2**63 - 1)
  for maker, seed, x64 in itertools.product(("key", "PRNGKey"), seeds, (False, True)):
    yield Case(maker, (seed,), maker=None, x64=x64)
  for maker in ("key", "PRNGKey"):
    yield Case(maker, (np.array(7, np.uint32),), maker=None)
    yield Case(maker, (1.5,), maker=None)
    yield Case(maker, (np.arange(2),), maker=None)
    yield Case(maker, (2**63,), maker=None)
  for seed, num in itertools.product(
    (0, 2**32 - 1), (1, 2, 3, 8, (), (0,), (1,), (2, 3))
  ):
    yield Case("split", (num,), seed=seed)
  yield Case("split")
  yield Case("split", maker="PRNGKey")
  yield Case("split", ((2, 3),), maker="PRNGKey")
  yield Case("split", (3,), mapped=2)
  for data in (0, 1, 7, 2**31, 2**32 - 1, -1, 2**32, 1.5):
    yield Case("fold_in", (data,), seed=5)
  yield Case("fold_in", (3,), maker="PRNGKey")
  yield Case("fold_in", (np.arange(2),))
  yield Case("fold_in", (9,), mapped=3)


def bits() -> Iterator[Case]:
  """Plain bits."""
  for dtype, shape in itertools.product(UNSIGNED, SHAPES):
    yield Case("bits", (shape, dtype), seed=11)
  for shape in SHAPES:
    yield Case("bits", (shape, np.uint64), seed=11, x64=True)
  yield Case("bits")
  yield Case("bits", x64=True)
  yield Case("bits", ((33,),), seed=2**32 - 1)
  yield Case("bits", ((3,), np.int32))
  yield Case("bits", ((3,), np.float32))
  yield Case("bits", ((5,),), maker="PRNGKey")
  yield Case("bits", ((5,), np.uint8), mapped=3)


def floats() -> Iterator[Case]:
  """Uniform and normal numbers."""
  for name, dtype, shape in itertools.product(("uniform", "normal"), FLOATS, SHAPES):
    yield Case(name, (shape, dtype), seed=3)
  for name, shape in itertools.product(("uniform", "normal"), SHAPES):
    yield Case(name, (shape, np.float64), seed=3, x64=True)
  for name in ("uniform", "normal"):
    yield Case(name)
    yield Case(name, x64=True)
    yield Case(name, ((3,), np.float64))
    yield Case(name, ((3,), np.int32))
    yield Case(name, ((5,),), maker="PRNGKey")
    yield Case(name, ((5,),), mapped=3)
    yield Case(name, (5,))
  bounds: tuple[tuple[object, object], ...] = (
    (-1.0, 1.0),
    (5, 6),
    (1e-30, 1e30),
    (2.0, 2.0),
  )
  for dtype, (low, high) in itertools.product(FLOATS[:1] + FLOATS[2:], bounds):
    yield Case("uniform", ((9,), dtype), {"minval": low, "maxval": high}, seed=4)
  row, column = np.arange(3, dtype=np.float32), np.ones((2, 1), np.float32) * 10
  yield Case("uniform", ((2, 3),), {"minval": row, "maxval": column})
  yield Case("uniform", ((2,),), {"minval": row})
  for shape in ((), (7,), (2, 3, 5)):
    yield Case("normal", (shape, np.complex64), seed=6)
    yield Case("normal", (shape, np.complex128), seed=6, x64=True)
  yield Case("uniform", ((3,), np.complex64))


def integers() -> Iterator[Case]:
  """Integers of a range."""
  narrow = [(d, False) for d in SIGNED + UNSIGNED]
  for dtype, x64 in [*narrow, *((d, True) for d in WIDE)]:
    info = np.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    for shape, a, b in (
      ((), 0, 10),
      ((7,), 0, 100),
      ((2, 3, 5), low, high),
      ((9,), high - 3, high),
      ((9,), low, low + 1),
      ((3,), 5, 5),
      ((3,), 5, 2),
      ((9,), 0, high + 1),
      ((9,), low - 5, low + 5),
      ((0,), 0, 3),
    ):
      if abs(a) < 2**63 and abs(b) < 2**63:  # JAX has no type for a larger Python int
        yield Case("randint", (shape, a, b, dtype), seed=8, x64=x64)
    whole = np.array(low, dtype), np.array(high, dtype)
    yield Case("randint", ((9,), *whole, dtype), seed=9, x64=x64)
  yield Case("randint", ((4,), 0, 7))
  yield Case("randint", ((4,), 0, 7), x64=True)
  yield Case("randint", ((4,), 0, 7, np.int64))
  yield Case("randint", ((4,), 0.0, 7))
  yield Case("randint", ((4,), 0, 7, np.float32))
  yield Case("randint", ((5,), 0, 7), mapped=3)
  ends = np.array([3, 300, 30000], np.int32)
  yield Case("randint", ((2, 3), 0, ends))
  yield Case("randint", ((2,), 0, ends))


def choices() -> Iterator[Case]:
  """Coin flips, orders, choices, categories."""
  odds = np.array([0.0, 0.25, 0.5, 1.0, 2.0], np.float32)
  yield Case("bernoulli")
  for p, shape in (
    (0.3, (20,)),
    (0.5, ()),
    (0, (4,)),
    (1, (4,)),
    (odds, None),
    (odds, (3, 5)),
  ):
    yield Case("bernoulli", (p, shape), seed=12)
  yield Case("bernoulli", (odds, (3,)))
  yield Case("bernoulli", (0.3, (5,)), mapped=3)
  square = np.arange(20).reshape(4, 5).astype(np.int32)
  for x in (0, 1, 5, 33, square):
    yield Case("permutation", (x,), seed=13)
  yield Case("permutation", (square.astype(np.float32),), {"axis": 1}, seed=13)
  yield Case("permutation", (square, 0), {"independent": True}, seed=13)
  yield Case("permutation", (square, 1), {"independent": True}, seed=13)
  yield Case("permutation", (square, 2))
  yield Case("permutation", (2.5,))
  yield Case("permutation", (np.zeros(0, np.float32),))
  yield Case("permutation", (6,), mapped=3)
  yield Case("permutation", (6,), x64=True)
  weights = np.array([0.1, 0.0, 0.2, 0.3, 0.4], np.float32)
  how = itertools.product(((), (3,), (2, 2)), (True, False), (None, weights))
  for size, replace, given in how:
    yield Case("choice", (5, size, replace, given), seed=14)
    yield Case("choice", (square, size, replace, given), {"axis": 1}, seed=14)
  yield Case("choice", (5, (6,), False))
  yield Case("choice", (0, (2,)))
  yield Case("choice", (5, (2,), True, weights[:3]))
  yield Case("choice", (np.array([2.5, 7.5], np.float32), (4,)))
  logits = np.log(np.arange(1, 13, dtype=np.float32)).reshape(3, 4)
  for axis, shape in ((-1, None), (0, None), (1, (5, 3)), (0, (2, 4)), (-1, (5, 3))):
    yield Case("categorical", (logits,), {"axis": axis, "shape": shape}, seed=15)
  yield Case("categorical", (logits,), {"shape": (4,)})
  yield Case("categorical", (logits,), {"shape": (2, 3), "replace": False}, seed=15)
  yield Case("categorical", (logits[0],), {"shape": (4,), "replace": False}, seed=15)
  yield Case("categorical", (logits[0],), {"shape": (5,), "replace": False})
  yield Case("categorical", (logits[0],), mapped=3)
  yield Case("categorical", (logits,), x64=True)


def parameters() -> dict[str, tuple[object, ...]]:
  """Parameters with which each distribution is drawn."""
  some = np.array([0.3, 1.0, 7.5], np.float32)
  spots = np.diag([1.0, 2.0, 3.0]).astype(np.float32) + 0.25
  return {
    "ball": (3, 2.5),
    "beta": (some, 2.0),
    "cauchy": (),
    "chisquare": (some,),
    "dirichlet": (some,),
    "double_sided_maxwell": (0.5, 2.0),
    "exponential": (),
    "f": (3.0, 4.0),
    "gamma": (some,),
    "generalized_normal": (1.5,),
    "laplace": (),
    "loggamma": (some,),
    "logistic": (),
    "lognormal": (some,),
    "maxwell": (),
    "multivariate_normal": (some, spots),
    "orthogonal": (3,),
    "pareto": (some,),
    "rayleigh": (some,),
    "t": (some,),
    "triangular": (0.0, some, 8.0),
    "truncated_normal": (-some, 1.5),
    "wald": (some,),
    "weibull_min": (2.0, 1.5),
  }


def distributions() -> Iterator[Case]:
  """Every other distribution of real numbers or vectors."""
  matrices = "orthogonal", "multivariate_normal"
  for name, args in parameters().items():
    shape = () if name == "orthogonal" else (4, 3)
    plain = args if name in ("ball", "dirichlet") else (0.75,) * len(args)
    yield Case(name, (*args, shape), seed=21)
    yield Case(name, (*args, shape), seed=22, x64=True)
    if name not in matrices:  # LAPACK has no numbers of 16 bits
      yield Case(name, (*plain, shape, ml_dtypes.bfloat16), seed=23)
    yield Case(name, (*args, shape, np.int32))
    if name not in ("ball", "dirichlet", *matrices):
      yield Case(name, (*plain, (3,)), mapped=2)
  for method in ("svd", "eigh"):
    how: dict[str, object] = {"method": method}
    yield Case("multivariate_normal", (*parameters()["multivariate_normal"], (2,)), how)
  for m in (2, 5):
    yield Case("orthogonal", (3, (2,)), {"m": m}, seed=24)
  yield Case("orthogonal", (3, (), np.complex64), seed=24)


def counts() -> Iterator[Case]:
  """Distributions of counts, and signs."""
  rates = np.array([0.0, 0.5, 3.0, 9.9, 10.1, 50.0, 2000.0], np.float32)
  odds = np.array([0.001, 0.01, 0.3, 0.5, 0.9, 1.0], np.float32)
  trials = np.array([[0], [3], [30], [1000]], np.float32)
  weights = np.array([0.5, 0.0, 0.3, 0.2], np.float32)
  for x64 in (False, True):
    yield Case("rademacher", ((9,),), seed=31, x64=x64)
    yield Case("poisson", (rates, (4, 7)), seed=32, x64=x64)
    yield Case("geometric", (odds, (4, 6)), seed=33, x64=x64)
    yield Case("binomial", (trials, odds), seed=34, x64=x64)
    yield Case("multinomial", (9, weights), {"shape": (3, 4)}, seed=35, x64=x64)
  yield Case("rademacher", ((9,), np.float32), seed=31)
  yield Case("poisson", (3.5, (9,), np.int8), seed=32)
  yield Case("poisson", (3.5, (5,)), mapped=2)
  yield Case("binomial", (40, 0.5, (9,)), seed=34)
  yield Case("binomial", (8, 0.25, (5,)), mapped=2)
  yield Case("geometric", (0.25, (5,)), mapped=2)


def jaxprs() -> dict[str, str]:
  """The text of what some calls trace to, by the call as Python text with a key `k`."""
  calls: dict[str, Callable[[gnomon.Array], object]] = {
    "random.split(k)": random.split,
    "random.split(k, (2, 3))": lambda k: random.split(k, (2, 3)),
    "random.fold_in(k, 1)": lambda k: random.fold_in(k, 1),
    "random.bits(k, (2,), 'uint8')": lambda k: random.bits(k, (2,), "uint8"),
    "random.key_data(k)": random.key_data,
    "random.clone(k)": random.clone,
    "random.uniform(k, (3,))": lambda k: random.uniform(k, (3,)),
    "random.normal(k, (3,))": lambda k: random.normal(k, (3,)),
    "random.bernoulli(k, 0.5, (3,))": lambda k: random.bernoulli(k, 0.5, (3,)),
    "random.randint(k, (3,), 0, 9)": lambda k: random.randint(k, (3,), 0, 9),
    "random.permutation(k, 6)": lambda k: random.permutation(k, 6),
  }
  return {text: str(gnomon.make_jaxpr(f)(random.key(0))) for text, f in calls.items()}


def main() -> None:
  """Writes one file for each group of calls, and the jaxprs."""
  for group in (keys, bits, floats, integers, choices, distributions, counts):
    lines = [json.dumps(case.record()) for case in group()]
    (DATA / f"{group.__name__}.jsonl").write_text("\n".join(lines) + "\n")
  (DATA / "jaxprs.json").write_text(json.dumps(jaxprs(), indent=1) + "\n")


if __name__ == "__main__":
  main()
