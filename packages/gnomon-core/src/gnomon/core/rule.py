"""Rule tables: what each transformation knows of each primitive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from gnomon.errors import MissingRuleError

if TYPE_CHECKING:
  from gnomon.core.primitive import Primitive

F = TypeVar("F", bound=Callable[..., Any])


class Rule(Generic[F]):
  """One transformation's table: `define` and look-up, nothing else."""

  __slots__ = ("_of", "get", "name", "what")

  def __init__(self, name: str, what: str = "") -> None:
    self.name, self.what = name, what
    self._of: dict[Primitive, F] = {}
    self.get = self._of.get

  def define(self, primitive: Primitive) -> Callable[[F], F]:
    """A decorator that enters a function as the rule of `primitive`.

    Raises:
      ValueError: `primitive` already has a rule in this table.
    """
    def register(function: F) -> F:
      if primitive in self._of:
        raise ValueError(f"{primitive.name!r} already has a rule for {self.name}")
      self._of[primitive] = function
      return function

    return register

  def replace(self, primitive: Primitive, function: F) -> None:
    """Enters or replaces a rule: for extension authors, through their views."""
    self._of[primitive] = function

  def remove(self, primitive: Primitive) -> None:
    """Takes a rule out of the table, if there is one."""
    self._of.pop(primitive, None)

  def __getitem__(self, primitive: Primitive) -> F:
    try:
      return self._of[primitive]
    except KeyError:
      p = primitive.name
      what = f"{self.what} for '{p}' not implemented: " if self.what else ""
      raise MissingRuleError(
          f"{what}{self.name} of the primitive {p!r} is not defined; define it with "
          f"`@{self.name}.define({p}_p)`") from None

  def __contains__(self, primitive: object) -> bool:
    return primitive in self._of

  def __iter__(self) -> Iterator[Primitive]:
    return iter(tuple(self._of))

  def __repr__(self) -> str:
    return f"<rule table {self.name!r}: {len(self._of)} primitives>"


typing_rule: Rule[Callable[..., Any]] = Rule("typing_rule", "Abstract evaluation")
effects_rule: Rule[Callable[..., Any]] = Rule("effects_rule")
impl_rule: Rule[Callable[..., Any]] = Rule("impl_rule")  # evaluates without compiling
jvp_rule: Rule[Callable[..., Any]] = Rule("jvp_rule", "Differentiation rule")
linearize_rule: Rule[Callable[..., Any]] = Rule("linearize_rule")
transpose_rule: Rule[Callable[..., Any]] = Rule(
    "transpose_rule", "Transpose rule (for reverse-mode differentiation)")
batch_rule: Rule[Callable[..., Any]] = Rule("batch_rule", "Batching rule")
axis_rule: Rule[Callable[..., Any]] = Rule("axis_rule")  # collectives over a named axis
dce_rule: Rule[Callable[..., Any]] = Rule("dce_rule")
partial_eval_rule: Rule[Callable[..., Any]] = Rule("partial_eval_rule")
lower: Rule[Callable[..., Any]] = Rule("lower", "MLIR translation rule")
discharge_rule: Rule[Callable[..., Any]] = Rule("discharge_rule")  # calls on references
pp_rule: Rule[Callable[..., Any]] = Rule("pp_rule")  # (printer, eqn) -> document
shown_params: Rule[Callable[..., Any]] = Rule("shown_params")  # params -> pairs to print


def hide_params(primitive: Primitive, *names: str, **defaults: Any) -> None:
  """Leaves out of printed equations the params `names`, and others at these defaults."""
  @shown_params.define(primitive)
  def shown(params: dict[str, Any]) -> list[tuple[str, Any]]:
    return [
        (k, v) for k, v in sorted(params.items())
        if k not in names and not (k in defaults and v == defaults[k])]
