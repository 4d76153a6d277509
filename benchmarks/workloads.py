"""What is measured: each workload builds, over a root module, the call to time."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal

import numpy as np

Call = Callable[[], object]
Clock = Literal["cpu", "wall", "memory"]


@dataclass(frozen=True)
class Workload:
  """A named thing to time.

  `build(root)` gives `(prepare, call)`; each timed `call(prepare())` leaves out the time
  of `prepare`. A workload with a `script` is a process of its own instead, whose text
  says ROOT where the root module stands. `goal` is the ratio to JAX that the project
  promises.
  """

  name: str
  title: str
  clock: Clock
  build: Callable[[ModuleType], tuple[Call, Callable[[Any], object]]] | None = None
  script: str | None = None
  goal: float | None = None

  @property
  def group(self) -> str:
    """The part of the name before the dot."""
    return self.name.partition(".")[0]


WORKLOADS: dict[str, Workload] = {}


def timed(
  name: str, title: str, *, goal: float | None = None, clock: Clock = "cpu"
) -> Callable[[Callable[[ModuleType], Any]], None]:
  """Registers a builder that returns a call, or a pair of preparation and call."""

  def register(build: Callable[[ModuleType], Any]) -> None:
    def pair(root: ModuleType) -> tuple[Call, Callable[[Any], object]]:
      built = build(root)
      return built if isinstance(built, tuple) else (lambda: None, lambda _: built())

    WORKLOADS[name] = Workload(name, title, clock, build=pair, goal=goal)

  return register


def process(
  name: str, title: str, script: str, *, clock: Clock = "cpu", goal: float | None = None
) -> None:
  """Registers a script that runs in a process of its own."""
  WORKLOADS[name] = Workload(name, title, clock, script=script, goal=goal)


def slice_of(root: ModuleType, name: str) -> Any:
  """The submodule `name` of a root."""
  return importlib.import_module(f"{root.__name__}.{name}")


def floats(*shape: int, seed: int = 0) -> np.ndarray:
  """Normal numbers, the same in every process."""
  numbers = np.random.default_rng(seed).standard_normal(shape)
  return numbers.astype(np.float32)


# --- programs --------------------------------------------------------------------------


def chain(root: ModuleType, length: int = 2000) -> tuple[Call, Any]:
  """A maker of new functions of `length` elementwise operations, and their argument.

  A new function for each tracing, because a function that was seen would come from a
  cache.
  """
  gnp = slice_of(root, "numpy")

  def make() -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
      y = x
      for _ in range(length // 4):
        y = gnp.sin(y) * x + y
        y = gnp.cos(y)
      return y

    return f

  return make, gnp.asarray(floats(8))


def network(root: ModuleType, layers: int = 48, width: int = 16) -> tuple[Call, Any]:
  """A maker of new functions of a list of layers: the loss of a deep network."""
  gnp = slice_of(root, "numpy")
  weights = [
    (gnp.asarray(floats(width, width, seed=i)) / 4, gnp.zeros(width))
    for i in range(layers)
  ]
  x = gnp.asarray(floats(8, width, seed=99))

  def make() -> Callable[[Any], Any]:
    def loss(layers: Any) -> Any:
      y = x
      for w, b in layers:
        y = gnp.tanh(y @ w + b)
      return gnp.mean(y**2)

    return loss

  return make, weights


def transformer(
  root: ModuleType, layers: int = 12, width: int = 32, heads: int = 4, length: int = 16
) -> tuple[Call, Any]:
  """A maker of new functions of a list of layers: a transformer written with `lax`."""
  lax = slice_of(root, "lax")
  gnp = slice_of(root, "numpy")
  sizes = {"qkv": 3 * width, "out": width, "up": 4 * width}

  def layer(seed: int) -> dict[str, Any]:
    weights = {
      name: gnp.asarray(floats(width, n, seed=seed) / 6) for name, n in sizes.items()
    }
    weights["down"] = gnp.asarray(floats(4 * width, width, seed=seed) / 12)
    for name in ("scale1", "shift1", "scale2", "shift2"):
      weights[name] = gnp.ones(width)
    return weights

  x = gnp.asarray(floats(length, width, seed=99))
  mask = gnp.asarray(np.tril(np.ones((heads, length, length), bool)))

  def rows(v: Any, like: Any) -> Any:
    return lax.broadcast_in_dim(v, like.shape, tuple(range(v.ndim)))

  def columns(v: Any, like: Any) -> Any:
    return lax.broadcast_in_dim(v, like.shape, (like.ndim - 1,))

  def normalized(x: Any, scale: Any, shift: Any) -> Any:
    mean = lax.div(lax.reduce_sum(x, (1,)), float(width))
    centred = lax.sub(x, rows(mean, x))
    variance = lax.div(lax.reduce_sum(lax.square(centred), (1,)), float(width))
    y = lax.mul(centred, rows(lax.rsqrt(lax.add(variance, 1e-5)), x))
    return lax.add(lax.mul(y, columns(scale, x)), columns(shift, x))

  def attention(x: Any, w: dict[str, Any]) -> Any:
    packed = lax.reshape(lax.dot(x, w["qkv"]), (length, 3, heads, width // heads))
    q, k, v = (lax.index_in_dim(packed, i, 1, keepdims=False) for i in range(3))
    scores = lax.dot_general(q, k, (((2,), (2,)), ((1,), (1,))))
    scores = lax.mul(scores, (width // heads) ** -0.5)
    scores = lax.select(mask, scores, lax.full_like(scores, -1e9))
    top = lax.stop_gradient(lax.reduce_max(scores, (2,)))
    weights = lax.exp(lax.sub(scores, rows(top, scores)))
    weights = lax.div(weights, rows(lax.reduce_sum(weights, (2,)), weights))
    mixed = lax.dot_general(weights, v, (((2,), (0,)), ((0,), (1,))))
    mixed = lax.reshape(lax.transpose(mixed, (1, 0, 2)), (length, width))
    return lax.dot(mixed, w["out"])

  def gelu(x: Any) -> Any:
    inner = lax.mul(lax.add(x, lax.mul(lax.integer_pow(x, 3), 0.044715)), 0.7978846)
    return lax.mul(lax.mul(x, 0.5), lax.add(lax.tanh(inner), 1.0))

  def make() -> Callable[[Any], Any]:
    def loss(layers: Any) -> Any:
      y = x
      for w in layers:
        y = lax.add(y, attention(normalized(y, w["scale1"], w["shift1"]), w))
        hidden = gelu(lax.dot(normalized(y, w["scale2"], w["shift2"]), w["up"]))
        y = lax.add(y, lax.dot(hidden, w["down"]))
      return lax.reduce_sum(lax.square(y), (0, 1))

    return loss

  return make, [layer(seed) for seed in range(layers)]


PROGRAMS = (
  ("chain", "chain of 2,000 operations", chain),
  ("mlp", "network of 48 layers", network),
  ("transformer", "transformer of 12 layers in lax", transformer),
)


def summed(root: ModuleType, f: Callable[[Any], Any]) -> Callable[[Any], Any]:
  """`f` with a scalar result."""
  gnp = slice_of(root, "numpy")
  return lambda x: gnp.sum(f(x))


def doubled(root: ModuleType, tree: Any) -> Any:
  """Every array of a tree twice, along a new leading axis."""
  gnp = slice_of(root, "numpy")
  return root.tree.map(lambda x: gnp.stack([x, x]), tree)


# --- tracing and lowering --------------------------------------------------------------


def register_tracing(name: str, title: str, program: Callable[..., Any]) -> None:
  """The workloads of one program: plain, differentiated, mapped, lowered."""
  goals = name in ("chain", "transformer")

  @timed(f"trace.{name}", f"trace a {title}", goal=0.15 if goals else None)
  def _(root: ModuleType) -> Any:
    make, x = program(root)
    return make, lambda f: root.make_jaxpr(f)(x)

  @timed(f"grad.{name}", f"trace the gradient of a {title}", goal=0.1 if goals else None)
  def _(root: ModuleType) -> Any:
    make, x = program(root)
    return make, lambda f: root.make_jaxpr(root.grad(summed(root, f)))(x)

  @timed(f"vmap.{name}", f"trace `vmap` of a {title}", goal=0.15 if goals else None)
  def _(root: ModuleType) -> Any:
    make, x = program(root)
    xs = doubled(root, x)
    return make, lambda f: root.make_jaxpr(root.vmap(f))(xs)

  @timed(f"lower.{name}", f"lower a traced {title}", goal=0.25 if goals else None)
  def _(root: ModuleType) -> Any:
    make, x = program(root)
    return lambda: root.jit(make()).trace(x), lambda traced: traced.lower()

  @timed(f"lower.{name}_grad", f"lower the traced gradient of a {title}")
  def _(root: ModuleType) -> Any:
    make, x = program(root)

    def traced() -> Any:
      return root.jit(root.grad(summed(root, make()))).trace(x)

    return traced, lambda traced: traced.lower()


for _program in PROGRAMS:
  register_tracing(*_program)


# --- cached calls of compiled functions ------------------------------------------------


def register_call(count: int) -> None:
  """Calls of a compiled function with a tree of `count` arrays."""

  @timed(f"call.leaves{count}", f"compiled call, arrays in and out: {count}", goal=1.05)
  def _(root: ModuleType) -> Call:
    gnp = slice_of(root, "numpy")
    tree = {f"a{i}": gnp.asarray(floats(4, seed=i)) for i in range(count)}
    f = root.jit(lambda t: root.tree.map(lambda x: x + 1, t))
    return lambda: f(tree)


for _count in (1, 10, 300):
  register_call(_count)


@timed("call.static", "compiled call with a static argument")
def _(root: ModuleType) -> Call:
  gnp = slice_of(root, "numpy")
  x = gnp.asarray(floats(4))
  f = root.jit(lambda x, n: x * n, static_argnums=1)
  return lambda: f(x, 3)


# --- eager operations ------------------------------------------------------------------


ONE = np.ones(1, np.float32)
EAGER: tuple[tuple[str, str, float | None, Callable[[Any, Any], object]], ...] = (
  ("add", "x + y", 0.9, lambda gnp, x: x + x),
  ("scalar", "x * 2", None, lambda gnp, x: x * 2),
  ("broadcast", "x + a row of one", None, lambda gnp, x: x + ONE),
  ("sin", "sin(x)", None, lambda gnp, x: gnp.sin(x)),
  ("getitem", "x[3]", 0.3, lambda gnp, x: x[3]),
  ("slice", "x[2:5]", None, lambda gnp, x: x[2:5]),
  ("take", "x[[0, 2, 4]] with an array", None, lambda gnp, x: x[np.array([0, 2, 4])]),
  ("set", "x.at[2].set(0)", None, lambda gnp, x: x.at[2].set(0.0)),
  ("sum", "sum(x)", None, lambda gnp, x: gnp.sum(x)),
  ("where", "where(x > 0, x, 0)", None, lambda gnp, x: gnp.where(x > 0, x, 0.0)),
  ("reshape", "x.reshape(2, 4)", None, lambda gnp, x: x.reshape(2, 4)),
  ("astype", "x.astype(int32)", None, lambda gnp, x: x.astype(gnp.int32)),
  (
    "concatenate",
    "concatenate four arrays",
    None,
    lambda gnp, x: gnp.concatenate([x] * 4),
  ),
  ("stack", "stack four arrays", None, lambda gnp, x: gnp.stack([x] * 4)),
  ("dot", "x @ x", None, lambda gnp, x: x @ x),
  ("zeros", "zeros((8, 8))", None, lambda gnp, x: gnp.zeros((8, 8))),
  ("asarray", "asarray of a list", None, lambda gnp, x: gnp.asarray([1.0, 2.0, 3.0])),
  ("float", "float(sum(x))", None, lambda gnp, x: float(gnp.sum(x))),
)


def register_eager(
  name: str, title: str, goal: float | None, op: Callable[[Any, Any], object]
) -> None:
  """One operation on a small array, outside of any transformation."""

  @timed(f"eager.{name}", title, goal=goal)
  def _(root: ModuleType) -> Call:
    gnp = slice_of(root, "numpy")
    x = gnp.asarray(floats(8))
    return lambda: op(gnp, x)


for _op in EAGER:
  register_eager(*_op)


@timed("eager.grad", "un-jitted gradient of sum(sin(x)**2)", goal=0.1)
def _(root: ModuleType) -> Call:
  gnp = slice_of(root, "numpy")
  x = gnp.asarray(floats(8))
  return lambda: root.grad(lambda x: gnp.sum(gnp.sin(x) ** 2))(x)


@timed("eager.vmap", "un-jitted `vmap` of a product and a sum")
def _(root: ModuleType) -> Call:
  gnp = slice_of(root, "numpy")
  x = gnp.asarray(floats(4, 8))
  return lambda: root.vmap(lambda x: gnp.dot(x, x) + 1)(x)


@timed("eager.normal", "random.normal(key, (8,))")
def _(root: ModuleType) -> Call:
  random = slice_of(root, "random")
  key = random.key(0)
  return lambda: random.normal(key, (8,))


# --- work that XLA does ----------------------------------------------------------------


@timed("step.mlp", "compiled training step of a network", goal=1.02, clock="wall")
def _(root: ModuleType) -> Call:
  make, weights = network(root, layers=4, width=256)
  gradient = root.value_and_grad(make())

  def step(weights: Any) -> Any:
    loss, g = gradient(weights)
    return loss, root.tree.map(lambda w, d: w - 0.1 * d, weights, g)

  compiled = root.jit(step)
  return lambda: compiled(weights)


# --- processes -------------------------------------------------------------------------

FIRST_JIT = "import ROOT, ROOT.numpy as n\nROOT.jit(lambda x: n.sin(x) * 2 + 1)(1.0)\n"
MANY = (
  "import ROOT, ROOT.numpy as n\n"
  "fs = [ROOT.jit(lambda x, i=i: n.sin(x) * i + 1) for i in range(50)]\n"
  "ys = [f(1.0) for f in fs]\n"
)
FIRST_GRAD = "import ROOT, ROOT.numpy as n\nROOT.grad(lambda x: n.sin(x) ** 2)(1.0)\n"

process("start.import", "import the root and numpy", "import ROOT, ROOT.numpy\n")
process("start.jit", "start to first compiled result", FIRST_JIT, goal=0.5)
process("start.grad", "start to first gradient", FIRST_GRAD)
process(
  "memory.import", "memory after import", "import ROOT, ROOT.numpy\n", clock="memory"
)
process("memory.jit", "memory after a compiled call", FIRST_JIT, clock="memory")
process("memory.functions", "memory with 50 compiled functions", MANY, clock="memory")
