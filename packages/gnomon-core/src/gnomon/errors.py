"""The exceptions that gnomon raises: each with its cause, an example, and the way out."""

from __future__ import annotations

from typing import Any

from gnomon.runtime.jaxlib.errors import JaxRuntimeError as JaxRuntimeError


class _Explained(Exception):
  """Base of errors whose docstring has `Cause: ` and `Fix: `: a note says where."""

  def __init__(self, *args: object) -> None:
    super().__init__(*args)
    self.add_note(f"Cause and fix: help(gnomon.errors.{type(self).__name__})")


class MissingRuleError(_Explained, NotImplementedError):
  """A transformation met a primitive that has no rule for it.

  Cause: each transformation keeps a table with one rule a primitive; whoever defines a
  primitive enters the rules that make sense for it. An operation without, say, a
  transposition rule cannot be part of the linear function that reverse-mode
  differentiation transposes.

  Example:
    >>> from gnomon.core.primitive import Primitive
    >>> from gnomon.core.rule import typing_rule
    >>> typing_rule[Primitive("mystery")]  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    MissingRuleError: typing_rule of the primitive 'mystery' is not defined; ...

  Fix: define the rule that the message names, with `@table.define(primitive)`; or write
  the function so that the operation stays outside the transformation, for example with
  `gnomon.lax.stop_gradient` or a custom derivative.
  """


class JAXTypeError(_Explained, TypeError):
  """Base of the errors about using a traced value in a way that its type forbids."""


class JAXIndexError(_Explained, IndexError):
  """Base of the errors about indexing with a traced value."""


class JaxprTypeError(_Explained, TypeError):
  """A program is not well formed: an operand is undefined, or types disagree.

  Cause: a rule or a hand-made jaxpr has a mistake: an equation uses a variable that no
  earlier equation binds, or declares results that its primitive does not give.

  Fix: print the jaxpr; the message names the equation and what was expected of it.
  """


class SimplifiedTraceback(Exception):
  """Marks, as the cause of an error, that internal frames were left out of its traceback.

  Fix: for the whole traceback, set the option `traceback_filtering` to `"off"`.
  """


class InconclusiveDimensionOperation(_Explained):
  """A comparison of symbolic dimensions is true for some of their values only.

  Cause: with symbolic shapes, `a == b` for dimensions must have one answer for all
  values that the dimensions may take; `n >= 3` has none if all that is known is `n >= 1`.

  Fix: state what is known, as constraints of the symbolic scope; or write the program
  without the comparison.
  """


# ---- traced values where a value is needed -------------------------------------------

def _described(tracer: Any) -> str:
  aval = getattr(tracer, "aval", None)
  return f"traced array with shape {aval}" if aval is not None else repr(tracer)


def _origin(tracer: Any) -> str:
  describe = getattr(tracer, "_origin_message", None)
  text = describe().strip() if describe is not None else ""
  return f"\n{text}" if text else ""


def concretization_message(tracer: Any, what: str = "") -> str:
  """The message for a traced value used where Python needs a value.

  Args:
    tracer: the value; its `aval` and `_origin_message()` are used if it has them.
    what: what asked for the value, such as `"float() was called on it"`.

  Returns:
    A text that ends with what to do.
  """
  context = f"\nWhat asked for the value: {what.rstrip('.')}." if what else ""
  return (
      "Abstract tracer value encountered where concrete value is expected: "
      f"{_described(tracer)}{context}{_origin(tracer)}\n"
      "To convert its dtype, use x.astype(dtype). If Python needs the value itself, mark "
      "the argument that it comes from as static (static_argnums or static_argnames of "
      "jit), or move this computation out of the transformed function.")


class ConcretizationTypeError(JAXTypeError):
  """Python asked for the value of an array of which a trace knows only the type.

  Cause: inside `jit`, `grad`, `vmap` and the like a function runs on tracers, which stand
  for all arrays of a type. Whatever needs one concrete value fails: `int(x)`,
  `float(x)`, `x.item()`, a shape or an axis computed from an argument.

  Example:
    >>> import gnomon
    >>> gnomon.jit(lambda x: float(x))(1.0)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    ConcretizationTypeError: Abstract tracer value encountered ...

  Fix: convert types with `x.astype(float)`. If the value decides the structure of the
  program (a size, an axis, a mode), pass it as a static argument:

    >>> def scaled(x, mode):
    ...   return x if float(mode) > 0.5 else 0.0
    >>> float(gnomon.jit(scaled, static_argnums=1)(2.0, 1))
    2.0
  """

  def __init__(self, tracer: Any, context: str = "") -> None:
    super().__init__(concretization_message(tracer, context))


class TracerBoolConversionError(ConcretizationTypeError):
  """A traced array decided an `if`, a `while`, an `and`, or a comparison chain of Python.

  Cause: Python takes one branch while the program is recorded, but which one depends on
  values that exist only when the program runs.

  Example:
    >>> import gnomon
    >>> @gnomon.jit
    ... def choose(condition, x, y):
    ...   return x if condition else y
    >>> choose(True, 1.0, 2.0)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    TracerBoolConversionError: Attempted boolean conversion of traced array ...

  Fix: choose between values with `gnomon.numpy.where`, between computations with
  `gnomon.lax.cond`; loop with `gnomon.lax.while_loop`. If the condition depends only on
  an argument that takes few values, make that argument static. For `and`, `or`, `not` of
  arrays write `&`, `|`, `~`.
  """

  def __init__(self, tracer: Any) -> None:
    JAXTypeError.__init__(
        self,
        f"Attempted boolean conversion of {_described(tracer)}.{_origin(tracer)}\n"
        "Choose between values with gnomon.numpy.where, between computations with "
        "gnomon.lax.cond, loop with gnomon.lax.while_loop; or make the argument that "
        "decides static (static_argnums of jit).")


class TracerArrayConversionError(JAXTypeError):
  """NumPy, or another library, asked for the contents of a traced array.

  Cause: a function of NumPy or SciPy computes with values at once; a tracer has none.

  Example:
    >>> import gnomon
    >>> import numpy as np
    >>> gnomon.jit(lambda x: np.sin(x))(1.0)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    TracerArrayConversionError: The numpy.ndarray conversion method ...

  Fix: use the function of the same name in `gnomon.numpy` or `gnomon.scipy`. If there is
  none, call the library through `gnomon.pure_callback`. A NumPy array that is indexed
  with a tracer is made a gnomon array first: `gnomon.numpy.asarray(table)[i]`.
  """

  def __init__(self, tracer: Any) -> None:
    super().__init__(
        "The numpy.ndarray conversion method __array__() was called on "
        f"{_described(tracer)}{_origin(tracer)}\n"
        "Use the function of gnomon.numpy instead of NumPy's, or call back to NumPy with "
        "gnomon.pure_callback; to index a NumPy array with a traced index, convert the "
        "array with gnomon.numpy.asarray first.")


class TracerIntegerConversionError(JAXTypeError):
  """A traced array was used where Python needs an integer: an index, a range, a size.

  Cause: `operator.index` was called on a tracer: by a list or tuple that was indexed
  with it, by `range`, or for a parameter that must be known while tracing.

  Example:
    >>> import gnomon
    >>> gnomon.jit(lambda i: (10, 20, 30)[i])(1)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    TracerIntegerConversionError: The __index__() method was called on ...

  Fix: index an array instead of a list: `gnomon.numpy.asarray((10, 20, 30))[i]`; loop
  with `gnomon.lax.fori_loop`; or make the integer a static argument:

    >>> gnomon.jit(lambda i: (10, 20, 30)[i], static_argnums=0)(1).item()
    20
  """

  def __init__(self, tracer: Any) -> None:
    super().__init__(
        f"The __index__() method was called on {_described(tracer)}{_origin(tracer)}\n"
        "Index an array (gnomon.numpy.asarray(values)[i]) rather than a list or tuple, "
        "loop with gnomon.lax.fori_loop, or make the integer static (static_argnums of "
        "jit).")


class NonConcreteBooleanIndexError(JAXIndexError):
  """An array was indexed with a traced boolean mask, so the result has no fixed shape.

  Cause: `x[mask]` has as many rows as the mask has true elements, and the shapes of a
  traced program may not depend on values.

  Example:
    A function that sums the positive elements cannot be written `x[x > 0].sum()` under
    `jit`; written with `where`, all shapes are fixed: `where(x > 0, x, 0).sum()`.

  Fix: use `gnomon.numpy.where(mask, x, fill)` with three arguments, the parameter
  `where=` of reductions, or `gnomon.numpy.nonzero(mask, size=n)` with a bound.
  """

  def __init__(self, tracer: Any) -> None:
    super().__init__(
        "Array boolean indices must be concrete; got a "
        f"{_described(tracer)}{_origin(tracer)}\n"
        "Select with gnomon.numpy.where(mask, x, fill), reduce with where=mask, or give "
        "the number of elements: gnomon.numpy.nonzero(mask, size=n).")


class UnexpectedTracerError(JAXTypeError):
  """A traced value was used after the transformation that it belongs to had ended.

  Cause: the function under the transformation had a side effect: it put an intermediate
  value into a global, an attribute, a list or a closure that lives on.

  Example:
    >>> import gnomon
    >>> kept = []
    >>> @gnomon.jit
    ... def f(x):
    ...   kept.append(x)
    ...   return x
    >>> y = f(1.0)
    >>> gnomon.jit(lambda: kept[0])()  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    UnexpectedTracerError: Encountered an unexpected tracer ...

  Fix: return the value as a further result. To find where it leaks, run the function
  within `gnomon.checking_leaks()`.
  """

  def __init__(self, msg: str) -> None:
    super().__init__(msg)


class KeyReuseError(JAXTypeError):
  """A random key was consumed twice, so that two results are not independent.

  Cause: a function that draws random numbers consumes its key; drawing again with the
  same key gives the same numbers. Checked while `debug_key_reuse` is on.

  Fix: derive a key for each use with `gnomon.random.split` or `gnomon.random.fold_in`.
  """
