"""Primitives of other libraries: defined, bound and evaluated by JAX's conventions.

What they give is one result, or with `multiple_results` a list; their rules are entered
through the views of `gnomon.interpreters`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gnomon.core import primitive, stage
from gnomon.core.rule import effects_rule, impl_rule, typing_rule
from gnomon.core.trace import get_current, tracing

__all__ = ["Primitive"]


class _AnyPrimitive(type):
  """Makes gnomon's own primitives instances of the class that libraries know."""

  def __instancecheck__(cls, instance: object) -> bool:
    if cls is Primitive:
      return isinstance(instance, primitive.Primitive)
    return super().__instancecheck__(instance)


class Primitive(primitive.Primitive, metaclass=_AnyPrimitive):
  """A new operation, to be given rules.

  >>> import gnomon
  >>> from gnomon.extend.core import Primitive
  >>> double_p = Primitive("double")
  >>> _ = double_p.def_impl(lambda x: x + x)
  >>> _ = double_p.def_abstract_eval(lambda x: x)
  >>> double_p.bind(2.0)
  Array(4., dtype=float32, weak_type=True)
  >>> gnomon.make_jaxpr(double_p.bind)(2.0)
  { lambda ; a:f32[]. let b:f32[] = double a in (b,) }

  Attributes:
    multiple_results: set it to True if the operation gives a list.
  """

  multiple_results = False
  skip_canonicalization = False
  is_effectful: Callable[..., bool] | None = None
  ref_primitive = False
  ref_allocating = False

  def __init__(self, name: str) -> None:
    super().__init__(name)
    self._bind: Callable[..., Any] | None = None

  def bind(self, *args: Any, **params: Any) -> Any:
    """Applies the operation under the current trace."""
    if self._bind is not None:
      return self._bind(get_current(), args, params)
    return self._outward(get_current().process(self, args, params))

  def bind_with_trace(
      self, trace: Any, args: Any, avals: Any, params: dict[str, Any], /) -> Any:
    """Applies the operation under a given trace; `avals` are not needed."""
    del avals
    with tracing(trace):
      return self._outward(trace.process(self, args, params))

  def def_bind_with_trace(
      self, bind_with_trace: Callable[..., Any]) -> Callable[..., Any]:
    """Replaces what `bind` does by `bind_with_trace(trace, args, params)`."""
    self._bind = bind_with_trace
    return bind_with_trace

  def _outward(self, outs: Any) -> Any:
    return list(outs) if self.multiple_results else outs[0]

  def inward(self, out: Any) -> tuple[Any, ...]:
    """The results of a rule of the library's as a tuple."""
    return tuple(out) if self.multiple_results else (out,)

  # ---- evaluation and types

  def def_impl(self, impl: Callable[..., Any]) -> Callable[..., Any]:
    """Enters how to compute on arrays: `impl(*arrays, **params)`.

    Without it the operation is compiled by its lowering.
    """
    impl_rule.replace(self, lambda *args, **params: self.inward(impl(*args, **params)))
    self.impl = impl  # type: ignore[method-assign]
    return impl

  def impl(self, *args: Any, **params: Any) -> Any:
    raise NotImplementedError(
        f"Evaluation rule for '{self.name}' not implemented: define it with def_impl")

  def def_abstract_eval(self, abstract_eval: Callable[..., Any]) -> Callable[..., Any]:
    """Enters the type of the result: `abstract_eval(*avals, **params)`.

    It must depend on nothing else, since what it gives is remembered.
    """
    typing_rule.replace(
        self, lambda *avals, **params: self.inward(abstract_eval(*avals, **params)))
    effects_rule.remove(self)
    stage.clear()
    return abstract_eval

  def def_effectful_abstract_eval(
      self, effectful_abstract_eval: Callable[..., Any]) -> Callable[..., Any]:
    """Enters the type and the effects: a rule that gives both, as a pair."""
    def typing(*avals: Any, **params: Any) -> tuple[Any, ...]:
      return self.inward(effectful_abstract_eval(*avals, **params)[0])

    def effects(*avals: Any, **params: Any) -> frozenset[Any]:
      return frozenset(effectful_abstract_eval(*avals, **params)[1])

    typing_rule.replace(self, typing)
    effects_rule.replace(self, effects)
    stage.clear()
    return effectful_abstract_eval

  def def_effectful_abstract_eval2(
      self, abstract_eval: Callable[..., Any]) -> Callable[..., Any]:
    """The same as `def_effectful_abstract_eval`."""
    return self.def_effectful_abstract_eval(abstract_eval)

  def abstract_eval(self, *args: Any, **params: Any) -> tuple[Any, Any]:
    """The type of the result and the effects."""
    if self not in typing_rule:
      raise NotImplementedError(
          f"Abstract evaluation for '{self.name}' not implemented: define it with "
          "def_abstract_eval")
    avals, effects = stage.type_of(self, args, params)
    return self._outward(avals), effects

  # ---- operations on types that are lowered to arrays: there are none among these

  def is_high(self, *avals: Any, **params: Any) -> bool:
    """Whether the operation must be lowered to one on arrays."""
    return False

  def to_lojax(self, *args: Any, **params: Any) -> Any:
    """The operation on arrays."""
    return self.bind(*args, **params)
