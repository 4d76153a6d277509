"""Mutable references: the values, the operations on them, and their primitives.

docs/design/refs.md says how they go through transformations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.effects import (
  Effect,
  adds_to_ref,
  makes_refs,
  reads_ref,
  writes_ref,
)
from gnomon.core.jaxpr import Literal
from gnomon.core.primitive import Primitive
from gnomon.core.ref_index import parse
from gnomon.core.ref_transforms import Transforms, read, result_type, write
from gnomon.core.ref_type import AbstractRef, RefMethods
from gnomon.core.ref_values import Box, Ref, TransformedRef, alive, not_here
from gnomon.core.rule import (
  batch_rule,
  effects_rule,
  impl_rule,
  jvp_rule,
  lower,
  pp_rule,
  typing_rule,
)
from gnomon.core.stage import RefTracer, StageTrace
from gnomon.core.structural import broadcast_to, convert, copy
from gnomon.core.trace import EVAL, KnownTrace, get_current, leaked, tracing
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import Zero
from gnomon.runtime.jaxlib import arrays
from gnomon.runtime.jaxlib import pretty as pp

Values = Sequence[Any]


# ---- making and ending references


def new_ref(init_val: Any, *, memory_space: Any = None, kind: str | None = None) -> Any:
  """A mutable reference to an array that begins as `init_val`.

  `ref[...]` reads the array, `ref[i] = x` writes, `ref[i] += x` adds; a write is seen by
  all that hold the reference. References may be arguments of transformed functions, or be
  closed over, or be made in them; they cannot be returned. The array is copied: writing
  never changes `init_val`.

  Args:
    init_val: an array, or a number.
    memory_space: where the array lives, for kernels.
    kind: `"no_grad"`: the contents are not differentiated; `"no_grad_no_remat"`:
      `checkpoint` reads and writes them in the forward pass only, too.

  Returns:
    The reference.

  >>> import gnomon
  >>> import gnomon.numpy as jnp
  >>> ref = gnomon.new_ref(jnp.zeros(3))
  >>> @gnomon.jit
  ... def step(ref, x):
  ...   ref[0] += x
  >>> step(ref, 2.0)
  >>> step(ref, 3.0)
  >>> ref
  Ref([5., 0., 0.], dtype=float32)

  Raises:
    TypeError: `init_val` is no array.
  """
  aval = typeof(init_val)
  if type(aval) is AbstractRef:
    raise TypeError(
        f"new_ref takes an array, got the reference {aval}: read it with ref[...]")
  return make(
      AbstractRef(aval, memory_space, kind), init_val, new_ref_p, (init_val,),
      {"memory_space": memory_space, "kind": kind})


def empty_ref(ty: Any, memory_space: Any = None) -> Any:
  """A mutable reference to an array whose elements are to be written first.

  Args:
    ty: has the shape and dtype of the array: a `ShapeDtypeStruct`.
    memory_space: where the array lives, for kernels.

  >>> import gnomon
  >>> @gnomon.jit
  ... def f(x):
  ...   ref = gnomon.empty_ref(gnomon.ShapeDtypeStruct((), 'float32'))
  ...   ref[...] = x
  ...   return ref[...]
  >>> float(f(2.0))
  2.0
  """
  aval = ShapedArray(
      ty.shape, dtypes.canonicalize_dtype(ty.dtype, allow_extended_dtype=True))
  return make(
      AbstractRef(aval, memory_space), None, empty_ref_p, (),
      {"ty": aval, "memory_space": memory_space})


def make(
    aval: AbstractRef, value: Any, p: Primitive, args: Values, params: Any, *,
    boxed: bool = False) -> Any:
  """A reference of the current trace."""
  trace = get_current()
  if isinstance(trace, KnownTrace):
    trace = trace._trace_of(args)
  if _has_no_derivative(aval) and hasattr(trace, "rules"):
    outer: Any = trace
    (value,), *_ = outer.split([value])
    with tracing(outer.parent):
      return make(aval, value, p, (value,) if args else (), params, boxed=boxed)
  if trace is EVAL:
    return Ref(copy(_initial(aval, value)), aval)
  if type(trace) is StageTrace and not boxed:
    out = trace.process(p, args, params)[0]
    return RefTracer(trace, aval, out._var)
  return Box(trace, aval, _initial(aval, value))


def _has_no_derivative(aval: AbstractRef) -> bool:
  return aval.kind is not None and "no_grad" in aval.kind


def _initial(aval: AbstractRef, value: Any) -> Any:
  """The first contents as an array."""
  inner = aval.inner_aval
  if value is None:
    value = np.zeros((), inner.dtype)[()]
  return broadcast_to(convert(value, inner.dtype, inner.weak_type), inner.shape)


def freeze(ref: Any) -> Any:
  """What a reference holds, as an array; the reference must not be used any more.

  >>> import gnomon
  >>> ref = gnomon.new_ref(1.0)
  >>> ref[...] += 1.0
  >>> float(gnomon.freeze(ref))
  2.0

  Raises:
    ValueError: it was freed before.
  """
  _check(ref, "freeze")
  if is_bound(ref):
    return freeze_p.apply(ref)[0]
  value = content(ref)
  free(ref)
  return value


def free_ref(ref: Any) -> None:
  """Ends the use of a reference.

  Raises:
    ValueError: it was freed before.
  """
  _check(ref, "free_ref")
  if is_bound(ref):
    free_ref_p.apply(ref)
  else:
    content(ref)
    free(ref)


def free(ref: Any) -> None:
  """Marks a reference as ended."""
  if type(ref) is Ref:
    ref._array = None
  else:
    ref.free()


# ---- reading and writing


def _check(ref: Any, who: str) -> None:
  if type(getattr(ref, "aval", None)) is not AbstractRef:
    raise ValueError(
        f"Can only call `{who}` on a `Ref`: {ref!r} of type {type(ref)} is none. Make "
        "one with gnomon.new_ref")


def resolve(ref: Any, idx: Any, who: str) -> tuple[Any, Transforms, list[Any]]:
  """The reference itself, and all indices that lead to the part."""
  _check(ref, who)
  transforms: Transforms = ()
  operands: list[Any] = []
  shape = ref.aval.shape
  if type(ref) is TransformedRef:
    ref, transforms, operands = ref.ref, ref.transforms, ref.operands
  indexer, more = parse(idx, shape)
  if not (indexer.is_whole and transforms):
    transforms = (*transforms, indexer)
  return ref, transforms, [*operands, *more]


def is_bound(ref: Any) -> bool:
  """Whether operations become equations or go down to where the reference lives."""
  trace = get_current()
  if type(ref) is Ref:
    return trace is not EVAL
  if not isinstance(ref, Box):
    return True
  if ref._trace.done:
    raise leaked(ref)
  return type(trace) is StageTrace and trace is not ref._trace


def content(ref: Any) -> Any:
  """What a reference holds that is not bound; of one with an array, a copy."""
  return copy(alive(ref)._array) if type(ref) is Ref else ref.content()


def replace(ref: Any, value: Any) -> None:
  """Makes a reference that is not bound hold something else."""
  if type(ref) is Ref:
    alive(ref)._array = value
  else:
    ref.replace(value)


def get(ref: Any, idx: Any = None) -> Any:
  """What a reference holds at an index; without one, all of it.

  An index is as for arrays: integers, slices with positive steps, integer arrays, an
  ellipsis, `gnomon.ds(start, size)` with a traced start; no masks, no new axes.

  >>> import gnomon
  >>> import gnomon.numpy as jnp
  >>> ref = gnomon.new_ref(jnp.arange(4))
  >>> gnomon.ref.get(ref, slice(1, 3)).tolist()
  [1, 2]

  Raises:
    ValueError: `ref` is no reference, or was freed.
    IndexError: the index is out of range.
    TypeError: the index is none.
  """
  ref, transforms, operands = resolve(ref, idx, "ref_get")
  return get_bound(ref, operands, transforms)


def read_all(leaves: Values) -> list[Any]:
  """Values of all kinds, with what references hold in the place of these."""
  return [get(x) if isinstance(x, RefMethods) else x for x in leaves]


def get_bound(ref: Any, operands: Values, transforms: Transforms) -> Any:
  """`get` with parsed indices."""
  if is_bound(ref):
    return get_p.apply(ref, *operands, transforms=transforms)[0]
  if type(ref) is not Ref:
    return read(ref.content(), operands, transforms)
  array = alive(ref)._array
  found = read(array, operands, transforms)
  return copy(found) if found is array else found


def swap(ref: Any, idx: Any, value: Any, _function_name: str = "ref_swap") -> Any:
  """Writes at an index of a reference, and returns what was there.

  >>> import gnomon
  >>> ref = gnomon.new_ref(1.0)
  >>> float(gnomon.ref.swap(ref, ..., 2.0)), float(ref[...])
  (1.0, 2.0)

  Raises:
    ValueError: `ref` is no reference, or was freed; the value has another dtype, or a
      shape that does not broadcast to that of the part.
  """
  ref, transforms, operands = resolve(ref, idx, _function_name)
  value = _fitting(ref, transforms, operands, value, "swap")
  return swap_bound(ref, value, operands, transforms)


def swap_bound(ref: Any, value: Any, operands: Values, transforms: Transforms) -> Any:
  """`swap` with parsed indices and a value that fits."""
  if is_bound(ref):
    return swap_p.apply(ref, value, *operands, transforms=transforms)[0]
  old = content(ref)
  _put(ref, old, value, operands, transforms, add=False)
  return read(old, operands, transforms)


def set(ref: Any, idx: Any, value: Any) -> None:
  """Writes at an index of a reference: `ref[idx] = value`.

  A traced position that is out of range stands for the nearest; of an array of positions,
  those out of range are dropped.

  Raises:
    ValueError: as for `swap`.
  """
  ref, transforms, operands = resolve(ref, idx, "ref_set")
  value = _fitting(ref, transforms, operands, value, "swap")
  if is_bound(ref):
    swap_p.apply(ref, value, *operands, transforms=transforms)
  else:
    _write(ref, value, operands, transforms, add=False)


def addupdate(ref: Any, idx: Any, x: Any) -> None:
  """Adds to what a reference holds at an index.

  >>> import gnomon
  >>> ref = gnomon.new_ref(1.0)
  >>> gnomon.ref.addupdate(ref, ..., 2.0)
  >>> ref
  Ref(3., dtype=float32, weak_type=True)

  Raises:
    ValueError: as for `swap`.
  """
  ref, transforms, operands = resolve(ref, idx, "ref_addupdate")
  x = _fitting(ref, transforms, operands, x, "addupdate")
  addupdate_bound(ref, x, operands, transforms)


def addupdate_bound(ref: Any, x: Any, operands: Values, transforms: Transforms) -> None:
  """`addupdate` with parsed indices and a value that fits."""
  if is_bound(ref):
    addupdate_p.apply(ref, x, *operands, transforms=transforms)
  else:
    _write(ref, x, operands, transforms, add=True)


def _write(
    ref: Any, value: Any, operands: Values, transforms: Transforms, *, add: bool) -> None:
  whole = not add and all(t.is_whole for t in transforms)
  if type(ref) is Ref:
    old = alive(ref)._array
  elif whole:
    old = None
  else:
    old = ref.content()
  _put(ref, old, value, operands, transforms, add=add)


def _put(ref: Any, old: Any, value: Any, operands: Values, transforms: Transforms, *,
         add: bool) -> None:
  new = write(old, operands, transforms, value, add=add)
  if type(ref) is Ref:  # it must own its memory, which programs write in place
    inner = ref.aval.inner_aval
    new = convert(new, inner.dtype, inner.weak_type)
    replace(ref, copy(new) if new is value or type(new) is not arrays.Array else new)
  else:
    replace(ref, new)


def _fitting(
    ref: Any, transforms: Transforms, operands: Values, value: Any, who: str) -> Any:
  """A value in the dtype of a reference and the shape of its part."""
  inner, aval = ref.aval.inner_aval, typeof(value)
  if type(aval) is AbstractRef:
    raise TypeError(
        f"{who}: the value is the reference {aval}; write what it holds, other[...]")
  part = result_type(inner, transforms, [typeof(x) for x in operands])
  shape, inner = part.shape, part
  if aval.dtype != inner.dtype and not (
      aval.weak_type and _weaker(aval.dtype, inner.dtype)):
    raise ValueError(
        f"Invalid dtype for `{who}`. Ref dtype: {inner.dtype}. Value dtype: "
        f"{aval.dtype}. Convert the value with astype")
  if aval.shape != shape:
    try:
      fits = np.broadcast_shapes(aval.shape, shape) == shape
    except ValueError:
      fits = False
    if not fits:
      raise ValueError(
          f"Invalid shape for `{who}`. Ref shape: {ref.aval.shape}. Expected shape: "
          f"{shape}. Value shape: {aval.shape}.")
  if isinstance(value, (bool, int, float, complex)):
    value = np.asarray(value, inner.dtype)[()]  # a literal of programs
  else:
    value = convert(value, inner.dtype, inner.weak_type)
  return value if np.shape(value) == shape else broadcast_to(value, shape)


def _weaker(dtype: Any, target: Any) -> bool:
  """Whether weak numbers of a dtype may become `target`."""
  for kind in (np.bool_, np.integer, np.floating, np.complexfloating):
    if dtypes.issubdtype(dtype, kind):
      return True
    if dtypes.issubdtype(target, kind):
      return False
  return False


# ---- the primitives

new_ref_p = Primitive("new_ref")
empty_ref_p = Primitive("empty_ref")
freeze_p = Primitive("freeze")
free_ref_p = Primitive("free_ref")
get_p = Primitive("get")
swap_p = Primitive("swap")
addupdate_p = Primitive("addupdate")


def _part(ref: AbstractRef, avals: Values, transforms: Transforms) -> ShapedArray:
  found: ShapedArray = result_type(ref.inner_aval, transforms, avals)
  return found


typing_rule.define(new_ref_p)(
    lambda x, *, memory_space, kind: (AbstractRef(x, memory_space, kind),))
typing_rule.define(empty_ref_p)(
    lambda *, ty, memory_space: (AbstractRef(ty, memory_space),))
typing_rule.define(freeze_p)(lambda ref: (ref.inner_aval,))
typing_rule.define(free_ref_p)(lambda ref: ())
typing_rule.define(get_p)(
    lambda ref, *avals, transforms: (_part(ref, avals, transforms),))
typing_rule.define(swap_p)(
    lambda ref, x, *avals, transforms: (_part(ref, avals, transforms),))
typing_rule.define(addupdate_p)(lambda ref, x, *avals, transforms: ())


def _effect(p: Primitive, effect: Effect) -> None:
  effects = frozenset({effect})
  effects_rule.define(p)(lambda *_, **__: effects)


_effect(new_ref_p, makes_refs)
_effect(empty_ref_p, makes_refs)
_effect(freeze_p, writes_ref)
_effect(free_ref_p, writes_ref)
_effect(get_p, reads_ref)
_effect(swap_p, writes_ref)
_effect(addupdate_p, adds_to_ref)

# How each is done: by evaluation, and wherever a program with references is run again.
actions: dict[Primitive, Callable[..., tuple[Any, ...]]] = {
    freeze_p: lambda ref: (freeze(ref),),
    free_ref_p: lambda ref: (free_ref(ref), ())[1],  # type: ignore[func-returns-value]
    get_p: lambda ref, *operands, transforms: (get_bound(ref, operands, transforms),),
    swap_p: lambda ref, x, *operands, transforms: (
        swap_bound(ref, x, operands, transforms),),
    addupdate_p: lambda ref, x, *operands, transforms: (
        addupdate_bound(ref, x, operands, transforms), ())[1]}  # type: ignore[func-returns-value]


def _define(p: Primitive, action: Callable[..., Any]) -> None:
  @impl_rule.define(p)
  def _(*args: Any, **params: Any) -> tuple[Any, ...]:
    with tracing(EVAL):  # a transformation may have passed it on
      outs: tuple[Any, ...] = action(*args, **params)
    return outs

  @lower.define(p)
  def _(ctx: Any, *values: Any, **_: Any) -> Any:
    raise AssertionError(f"{p} should have been replaced before lowering")


for _p, _action in actions.items():
  _define(_p, _action)


# A differentiated or mapped operand other than the reference itself gets here.


def _no_derivative(p: Primitive) -> None:
  @jvp_rule.define(p)
  def _(primals: Values, tangents: Values, **params: Any) -> Any:
    if not _has_no_derivative(primals[0].aval):
      raise not_here(primals[0].aval, False, "a set/swap operation")
    outs = p.apply(*primals, **params)
    return outs, [Zero(o.aval.to_tangent_aval()) for o in outs]


_no_derivative(swap_p)
_no_derivative(addupdate_p)


def _not_mapped(p: Primitive) -> None:
  @batch_rule.define(p)
  def _(axis: Any, args: Values, dims: Values, **_: Any) -> Any:
    raise not_here(typeof(args[0]), True, "a set/swap operation")


_not_mapped(swap_p)
_not_mapped(addupdate_p)


# ---- printing, as JAX does: `a[0] <- x`, `b <- a[0]`, `a[0] += x`


def _place(printer: Any, eqn: Any, first: int) -> str:
  ref: str = printer.atom(eqn.invars[0])
  names = iter([
      str(v.val) if type(v) is Literal else printer.atom(v) for v in eqn.invars[first:]])
  return ref + "".join(t.shown(names) for t in eqn.params["transforms"])


def _assigned(printer: Any, eqn: Any, text: str) -> Any:
  return pp.concat([printer.binders(eqn.outvars), pp.text(text)])


@pp_rule.define(get_p)
def _(printer: Any, eqn: Any) -> Any:
  return _assigned(printer, eqn, f" <- {_place(printer, eqn, 1)}")


@pp_rule.define(swap_p)
def _(printer: Any, eqn: Any) -> Any:
  place, value = _place(printer, eqn, 2), printer.atom(eqn.invars[1])
  if printer.name(eqn.outvars[0]) == "_":
    return pp.text(f"{place} <- {value}")
  return _assigned(printer, eqn, f", {place} <- {place}, {value}")


@pp_rule.define(addupdate_p)
def _(printer: Any, eqn: Any) -> Any:
  value = printer.atom(eqn.invars[1])
  return pp.text(f"{_place(printer, eqn, 2)} += {value}")
