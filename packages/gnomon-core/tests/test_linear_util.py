"""Functions in layers, and the helpers that transformations of other libraries use."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import api_util
from gnomon.extend import linear_util as lu
from gnomon.tree_util import tree_flatten, tree_structure


@lu.transformation
def scaled(n: int, *args: Any) -> Any:
  out = yield tuple(a + 1 for a in args), {}
  yield out * n


@lu.transformation_with_aux
def counted(n: int, *args: Any) -> Any:
  out = yield args, {}
  yield out * n, len(args)


@lu.transformation2
def scaled2(f: Any, n: int, *args: Any) -> Any:
  return f(*(a + 1 for a in args)) * n


@lu.transformation_with_aux2
def counted2(f: Any, store: Any, n: int, *args: Any) -> Any:
  store.store(len(args))
  return f(*args) * n


@pytest.mark.parametrize("layer", [scaled, scaled2])
def test_layers(layer: Any) -> None:
  f = layer(lu.wrap_init(lambda x, y: x * y), 10)
  assert f.call_wrapped(1, 2) == 60
  assert layer(f, 2).call_wrapped(1, 2) == 2 * 10 * 3 * 4  # the last one is outermost
  assert f == layer(lu.wrap_init(f.f), 10) != layer(lu.wrap_init(f.f), 11)
  assert hash(f) == hash(layer(lu.wrap_init(f.f), 10))
  assert layer.__name__ in repr(f)


@pytest.mark.parametrize("layer", [counted, counted2])
def test_layers_that_learn(layer: Any) -> None:
  f, count = layer(lu.wrap_init(lambda x, y: x * y), 10)
  with pytest.raises(lu.StoreException, match="empty"):
    count()
  assert (f.call_wrapped(1, 2), count()) == (20, 2)
  with pytest.raises(lu.StoreException, match="occupied"):
    f.call_wrapped(1, 2)


def test_one_of_two_stores() -> None:
  f, first = counted2(lu.wrap_init(lambda x: x), 1)
  _, second = counted2(lu.wrap_init(lambda x: x), 1)
  with pytest.raises(lu.StoreException, match="neither"):
    lu.merge_linear_aux(first, second)
  f.call_wrapped(1)
  assert lu.merge_linear_aux(first, second) == (True, 1)
  assert lu.merge_linear_aux(second, first) == (False, 1)
  with pytest.raises(lu.StoreException, match="both"):
    lu.merge_linear_aux(first, first)


def test_params_are_keywords() -> None:
  assert lu.wrap_init(lambda x, k: x + k, {"k": 5}).call_wrapped(1) == 6


def test_a_cache_remembers_by_function_layers_and_context() -> None:
  calls = []

  @lu.cache
  def run(fun: Any, x: Any) -> Any:
    calls.append(x)
    return fun.call_wrapped(x)

  def f(x: Any) -> Any:
    return x + 1

  def once(n: int, f: Any = f) -> Any:
    wrapped, aux = counted2(lu.wrap_init(f), n)
    return run(wrapped, 5), aux()

  assert once(2) == once(2) == (12, 1)  # the store is filled again
  assert once(3) == (18, 1)
  assert calls == [5, 5]
  with gnomon.enable_x64(True):
    once(2)
  assert calls == [5, 5, 5]
  run.evict_function(f)
  once(2)
  run.cache_clear()
  once(2)
  assert len(calls) == 5
  alive = weakref.ref(f)
  del f, once
  gc.collect()
  assert alive() is None


def test_explanations_of_misses() -> None:
  told: list[Any] = []
  run = lu.cache(lambda fun, x: x, explain=lambda fun, seen, x: told.append((seen, x)))
  f = lu.wrap_init(abs)
  run(f, 1), run(f, 1), run(f, 2)
  assert told == [(False, 1), (True, 2)]


def test_flat_functions() -> None:
  f = lu.wrap_init(lambda x, y, k=0: (x + y[0], {"a": k}))
  leaves, tree = tree_flatten(((1, [2]), {"k": 3}))
  flat, out = api_util.flatten_fun(f, tree)
  assert flat.call_wrapped(*leaves) == [3, 3]
  assert out() == tree_structure((0, {"a": 0}))
  leaves, tree = tree_flatten((1, [2]))
  flat, out = api_util.flatten_fun_nokwargs(f, tree)
  assert flat.call_wrapped(*leaves) == [3, 0]


@pytest.mark.parametrize(("dynamic", "rest"), [
    (1, (20,)), ((0, 2), (10, 30)), ((-1,), (30,)), ((), ())])
def test_some_arguments_fixed(dynamic: Any, rest: Any) -> None:
  f = lu.wrap_init(lambda *args: args)
  g, given = api_util.argnums_partial(f, dynamic, (10, 20, 30))
  assert given == rest
  assert g.call_wrapped(*given) == (10, 20, 30)


def test_fixed_arguments_are_hashable() -> None:
  f = lu.wrap_init(lambda *args: args)
  with pytest.raises(ValueError, match=r"Static argument \(index 1\) of type.*list"):
    api_util.argnums_partial(f, 0, (1, [2]))
  g, given = api_util.argnums_partial(f, 0, (1, [2]), require_static_args_hashable=False)
  assert g.call_wrapped(*given) == (1, [2])
  with pytest.raises(ValueError, match="out of range"):
    api_util.argnums_partial(f, 5, (1, 2))


def test_donations() -> None:
  tree = tree_structure(((1, (2, 3)), {"a": 1}))
  assert api_util.donation_vector((0,), (), tree) == (True, False, False, False)
  assert api_util.donation_vector((1,), ("a",), tree) == (False, True, True, True)
  args = tree_structure((1, (2, 3)))
  assert api_util.donation_vector((0,), (), args, kws=False) == (True, False, False)
  assert api_util.rebase_donate_argnums((3, 2), (0, 1)) == (0, 1)
  with pytest.raises(ValueError, match="cannot intersect"):
    api_util.rebase_donate_argnums((1,), (1,))


def test_axes_maps_and_types() -> None:
  axes = api_util.flatten_axes("axes", tree_structure((1, (2, 3))), (0, None))
  assert axes == [0, None, None]
  with pytest.raises(ValueError, match="axes"):
    api_util.flatten_axes("axes", tree_structure((1, (2, 3))), (0, 1, 2))
  assert api_util.safe_map(max, [1, 5], [2, 3]) == [2, 5]
  with pytest.raises(ValueError, match="argument 2 is shorter"):
    api_util.safe_map(max, [1, 5], [2])
  assert api_util.shaped_abstractify(np.ones(2)) == gnomon.typeof(np.ones(2))
  with pytest.raises(TypeError, match="not a valid JAX type"):
    api_util.shaped_abstractify("a")


def test_debug_info() -> None:
  def f(x: Any, y: Any, *, k: Any) -> Any:
    return x

  info = api_util.debug_info(
      "a test", f, (1, (2, 3)), {"k": 4}, static_argnums=(0,),
      result_paths_thunk=lambda: ("out",))
  assert (info.traced_for, info.func_name) == ("a test", "f")
  assert (info.func_filename, info.func_lineno) == (
      __file__, f.__code__.co_firstlineno)
  assert info.arg_names == ("y[0]", "y[1]", "k")
  assert info.safe_arg_names(3) == info.arg_names
  assert info.safe_arg_names(2) == ("", "")
  assert info.filter_arg_names([True, False, True]) == ("y[0]", "k")
  assert info.resolve_result_paths().result_paths == ("out",)
  assert info.filter_result_paths([False]) == ()
  assert info.resolve_result_paths().safe_result_paths(1) == ("out",)
  assert info.set_result_paths([1, {"a": 2}]).result_paths == (
      "result[0]", "result[1]['a']")
  assert info.with_unknown_names().arg_names is None
  assert info.replace_func_name("g").func_src_info == f"g {info.func_src_info[2:]}"
  info.assert_arg_names(3)
  with pytest.raises(AssertionError, match="4 arguments"):
    info.assert_arg_names(4)
  with pytest.raises(AssertionError, match="2 results"):
    info.resolve_result_paths().assert_result_paths(2)
