"""`explain_cache_misses`: why a function is traced again, in one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gnomon.api import tools
from gnomon.core import logs, source
from gnomon.tree_util import equality_errors_pytreedef, keystr

_WEAK = (
    " (a Python number has a weak type: "
    "https://docs.jax.dev/en/latest/type_promotion.html#weak-types)")


def explain(
    fun: Any, who: str, in_tree: Any, avals: Sequence[Any], static: Any, context: Any,
    keys: Iterable[Any]) -> None:
  """Logs why `fun` is traced; `keys` are those of all functions traced before."""
  code = getattr(tools.unwrapped(fun), "__code__", None)
  if code is not None and not source.is_user_file(code.co_filename):
    return  # a function of the library's own
  now = in_tree, tuple(avals), static, context
  reason = _reason(fun, who, now, list(keys))
  place = source.summary(getattr(source.here(), "traceback", source.here()))
  logs.caches.warning(
      "TRACING CACHE MISS%s: %s is traced for %s: %s", f" at {place}" if place else "",
      tools.describe_function(fun), who, reason)


def _reason(fun: Any, who: str, now: Any, keys: list[Any]) -> str:
  seen = []
  twin = False
  text = tools.describe_function(fun)
  for ref, context, (traced_for, tree, avals, static, _), _ in keys:
    other = ref()
    if other is fun and traced_for == who:
      before = tree, avals, static, context
      if before != now:
        seen.append(before)
    elif other is not None and tools.describe_function(other) == text and " at " in text:
      twin = True
  if not seen:
    return "never seen function" + (
        "; another function defined on the same line was: define it once, outside of the "
        "loop or function that makes it" if twin else "")
  closest = min(seen, key=lambda before: sum(1 for _ in _changes(fun, before, now)))
  return "; ".join(_changes(fun, closest, now))


def _changes(fun: Any, before: Any, now: Any) -> Iterator[str]:
  """What differs between two calls, a text for each."""
  old_tree, old_avals, old_static, old_context = before
  tree, avals, static, context = now
  if static != old_static:
    yield from _static(old_static, static)
  if tree != old_tree:
    yield "different input pytree, as (args, kwargs): " + ", ".join(
        f"at {keystr(path) or 'the top'} now {new} and before {old}"
        for path, old, new, _ in equality_errors_pytreedef(old_tree, tree))
  elif avals != old_avals:
    names = tools.leaf_names(fun, tree, static[0])()
    for name, old, new in zip(names, old_avals, avals, strict=False):
      if old != new:
        yield f"different input types: at {name}, {_types(old, new)}"
  if context != old_context:
    yield "different tracing context: " + ", ".join(_context(old_context, context))


def _types(old: Any, new: Any) -> str:
  short = [a.str_short(short_dtypes=True) for a in (old, new)]
  if short[0] != short[1] or not hasattr(old, "weak_type"):
    return f"now {short[1]} and before {short[0]}"
  return (
      f"now {short[1]}{{weak_type={new.weak_type}}} and before "
      f"{short[0]}{{weak_type={old.weak_type}}}{_WEAK}")


def _static(old: Any, new: Any) -> Iterator[str]:
  def values(s: Any) -> str:
    return ", ".join(repr(v.value) for v in s[1])

  def named(s: Any) -> str:
    return "{" + ", ".join(f"{k}: {v.value!r}" for k, v in s[2]) + "}"

  if new[:2] != old[:2]:
    yield f"different value of static args: now {values(new)} and before {values(old)}"
  if new[2] != old[2]:
    yield f"different value of static kwargs: now {named(new)} and before {named(old)}"


def _context(old: Any, new: Any) -> Iterator[str]:
  options, old_options = dict(new[0] or ()), dict(old[0] or ())
  for name in sorted({*options, *old_options}):
    now, before = (o.get(name, "the default") for o in (options, old_options))
    if now != before:
      yield f"{name}: now {now} and before {before}"
  for what, now, before in (
      ("enable_x64", new[1], old[1]), ("named axes", new[2], old[2])):
    if now != before:
      yield f"{what}: now {now} and before {before}"
