"""`vmap`: axes in and out, sizes, pytrees, and what its errors say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gnomon


def _values(*shape: int) -> Any:
  return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + 1


# ---- in_axes


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_each_axis(ops: Any, axis: int) -> None:
  x = _values(2, 3, 4)
  got = gnomon.vmap(lambda v: ops.mul(ops.sum(v), v), in_axes=axis, out_axes=axis)(x)
  parts = [np.take(x, i, axis) for i in range(x.shape[axis])]
  want = np.stack([v.sum() * v for v in parts], axis)
  np.testing.assert_allclose(np.asarray(got), want)


def test_arguments_that_are_not_mapped(ops: Any) -> None:
  x, y = _values(3), np.float32(2)
  want = x * 2
  for f, args in (
      (gnomon.vmap(ops.mul, in_axes=(0, None)), (x, y)),
      (gnomon.vmap(ops.mul, in_axes=(None, 0)), (y, x)),
      (gnomon.vmap(ops.mul, in_axes=[0, None]), (x, y))):
    np.testing.assert_array_equal(np.asarray(f(*args)), want)


def test_pytrees_of_axes(ops: Any) -> None:
  def f(d: dict[str, Any], xs: tuple[Any, Any]) -> Any:
    return {"p": ops.mul(d["a"], xs[0]), "q": ops.add(d["b"], xs[1])}

  d = {"a": _values(3, 2), "b": _values(2, 3)}
  xs = (_values(2), _values(3, 2))
  out = gnomon.vmap(
      f, in_axes=({"a": 0, "b": 1}, (None, 0)), out_axes={"p": 0, "q": 1})(d, xs)
  np.testing.assert_array_equal(np.asarray(out["p"]), d["a"] * xs[0])
  np.testing.assert_array_equal(np.asarray(out["q"]), (d["b"].T + xs[1]).T)


def test_a_prefix_of_axes_covers_a_subtree(ops: Any) -> None:
  f = gnomon.vmap(lambda t, s: ops.add(t["a"], ops.mul(t["b"], s)), in_axes=(1, None))
  t = {"a": _values(2, 3), "b": _values(2, 3)}
  np.testing.assert_array_equal(np.asarray(f(t, np.float32(2))), (t["a"] + 2 * t["b"]).T)


def test_empty_containers_and_none_among_the_arguments(ops: Any) -> None:
  f = gnomon.vmap(lambda x, nothing, empty: (ops.neg(x), nothing, empty))
  y, nothing, empty = f(_values(3), None, {})
  np.testing.assert_array_equal(np.asarray(y), -_values(3))
  assert nothing is None
  assert empty == {}


def test_keyword_arguments_are_mapped_over_the_first_axis(ops: Any) -> None:
  f = gnomon.vmap(lambda x, *, y: ops.mul(ops.sum(x), y), in_axes=1)
  x, y = _values(2, 3), _values(3)
  np.testing.assert_array_equal(np.asarray(f(x, y=y)), x.sum(0) * y)


def test_integers_bools_and_weak_types(ops: Any) -> None:
  assert gnomon.vmap(ops.neg)(np.arange(3)).dtype == np.int32
  out = gnomon.vmap(lambda x: (x, 2.0))(np.array([True, False]))
  assert out[0].dtype == np.bool_
  np.testing.assert_array_equal(np.asarray(out[1]), [2.0, 2.0])


# ---- out_axes


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_each_out_axis(ops: Any, axis: int) -> None:
  x = _values(4, 2, 3)
  got = gnomon.vmap(ops.neg, out_axes=axis)(x)
  np.testing.assert_array_equal(np.asarray(got), np.moveaxis(-x, 0, axis))


def test_results_that_do_not_depend_on_the_axis(ops: Any) -> None:
  f = lambda x, c: (ops.neg(x), ops.neg(c), 3.0)  # noqa: E731
  x, c = _values(3), _values(2)
  y, z, w = gnomon.vmap(f, in_axes=(0, None), out_axes=(0, None, None))(x, c)
  np.testing.assert_array_equal(np.asarray(y), -x)
  np.testing.assert_array_equal(np.asarray(z), -c)
  assert float(w) == 3.0
  y, z, w = gnomon.vmap(f, in_axes=(0, None), out_axes=(0, 1, 0))(x, c)
  np.testing.assert_array_equal(np.asarray(z), np.stack([-c] * 3, 1))
  np.testing.assert_array_equal(np.asarray(w), [3.0] * 3)


def test_a_mapped_result_for_out_axes_none_is_an_error(ops: Any) -> None:
  def double(x: Any) -> Any:
    return ops.add(x, x)

  with pytest.raises(ValueError, match=r"(?s)out_axes is None.*double at .*test_vmap.py"):
    gnomon.vmap(double, out_axes=None)(_values(3))


# ---- sizes


def test_axis_size_without_mapped_arguments(ops: Any) -> None:
  f = gnomon.vmap(ops.neg, in_axes=None, axis_size=3)
  np.testing.assert_array_equal(np.asarray(f(np.float32(2))), [-2, -2, -2])
  np.testing.assert_array_equal(
      np.asarray(gnomon.vmap(lambda: 1.5, axis_size=2)()), [1.5, 1.5])


def test_an_axis_of_size_zero(ops: Any) -> None:
  assert gnomon.vmap(ops.neg)(np.zeros((0, 3), np.float32)).shape == (0, 3)
  f = gnomon.vmap(lambda x, y: ops.mul(ops.sum(x), y), in_axes=(0, None))
  assert f(np.zeros((0, 3), np.float32), np.float32(1)).shape == (0,)


def test_sizes_that_differ_name_all_arguments(ops: Any) -> None:
  def f(x: Any, d: Any) -> Any:
    return ops.add(x, d["k"])

  with pytest.raises(ValueError, match=(
      r"(?s)inconsistent sizes.*axis 0 of argument x of type float32\[3\] has size 3.*"
      r"axis 0 of argument d\['k'\] of type float32\[4\] has size 4")):
    gnomon.vmap(f)(_values(3), {"k": _values(4)})
  with pytest.raises(ValueError, match=r"(?s)inconsistent sizes.*axis_size says 5"):
    gnomon.vmap(ops.neg, axis_size=5)(_values(3))


def test_nothing_to_map(ops: Any) -> None:
  with pytest.raises(ValueError, match="at least one argument"):
    gnomon.vmap(lambda: 1.0)()
  with pytest.raises(ValueError, match="at least one non-None value in in_axes"):
    gnomon.vmap(ops.neg, in_axes=None)(_values(3))
  with pytest.raises(ValueError, match="at least one argument"):
    gnomon.vmap(lambda x: 1.0)(())


# ---- errors


def test_an_argument_of_too_low_rank_is_named(ops: Any) -> None:
  def f(x: Any, y: Any) -> Any:
    return ops.add(x, y)

  with pytest.raises(ValueError, match=r"(?s)along axis 0.*rank.*only 0.*the argument y"):
    gnomon.vmap(f)(_values(3), np.float32(1))
  with pytest.raises(ValueError, match=r"(?s)along axis 2.*at least 3.*the argument x"):
    gnomon.vmap(f, in_axes=(2, None))(_values(3), np.float32(1))
  with pytest.raises(ValueError, match=r"(?s)along axis -2.*at least 2"):
    gnomon.vmap(f, in_axes=(-2, None))(_values(3), np.float32(1))


def test_in_axes_that_do_not_fit(ops: Any) -> None:
  with pytest.raises(ValueError, match=r"got 1 entries .* for 2 positional"):
    gnomon.vmap(ops.add, in_axes=(0,))(_values(3), _values(3))
  with pytest.raises(ValueError, match="vmap in_axes"):
    gnomon.vmap(lambda d: d["a"], in_axes=({"b": 0},))({"a": _values(3)})
  with pytest.raises(TypeError, match=r"in_axes must be an int.*'x'"):
    gnomon.vmap(ops.neg, in_axes="x")
  with pytest.raises(TypeError, match=r"in_axes must be an int.*1\.5"):
    gnomon.vmap(ops.neg, in_axes=(1.5,))
  with pytest.raises(TypeError, match="out_axes must be an int"):
    gnomon.vmap(ops.neg, out_axes="y")


def test_out_axes_that_do_not_fit(ops: Any) -> None:
  with pytest.raises(ValueError, match="vmap out_axes"):
    gnomon.vmap(lambda x: (x, x), out_axes=(0, 0, 0))(_values(3))
  with pytest.raises(ValueError, match=r"out_axes, axis 2 is out of bounds .* 1 dim"):
    gnomon.vmap(ops.neg, out_axes=2)(_values(3))


def test_an_argument_that_is_no_array(ops: Any) -> None:
  def f(x: Any, y: Any) -> Any:
    return x

  with pytest.raises(TypeError, match=r"argument y of vmap of f .*'text'"):
    gnomon.vmap(f)(_values(3), "text")
  with pytest.raises(TypeError, match="returned a value of type"):
    gnomon.vmap(lambda x: "text")(_values(3))
  with pytest.raises(TypeError, match="vmap expects a function, got 3"):
    gnomon.vmap(3)


def test_a_function_keeps_its_name(ops: Any) -> None:
  def half(x: Any) -> Any:
    """Doc."""
    return ops.mul(x, 0.5)

  assert (gnomon.vmap(half).__name__, gnomon.vmap(half).__doc__) == ("half", "Doc.")
  assert gnomon.vmap(half).__wrapped__ is half


# ---- with the other transformations


def test_nested_axes_are_independent(ops: Any) -> None:
  x, y = _values(2), _values(3)
  outer = gnomon.vmap(gnomon.vmap(ops.mul, (None, 0)), (0, None))
  np.testing.assert_array_equal(np.asarray(outer(x, y)), np.outer(x, y))
  outer = gnomon.vmap(gnomon.vmap(ops.mul, (0, None)), (None, 0))
  np.testing.assert_array_equal(np.asarray(outer(x, y)), np.outer(x, y).T)
  both = gnomon.vmap(gnomon.vmap(ops.mul, (0, 0), 0), (1, 1), 1)
  z = _values(2, 3)
  np.testing.assert_array_equal(np.asarray(both(z, z)), z * z)


def test_closures_over_values_of_outer_maps(ops: Any) -> None:
  def rows(x: Any) -> Any:
    return gnomon.vmap(lambda y: gnomon.vmap(lambda z: ops.mul(ops.mul(x, y), z))(b))(a)

  a, b, c = _values(2), _values(3), _values(4)
  got = gnomon.jit(gnomon.vmap(rows))(c)
  np.testing.assert_array_equal(np.asarray(got), np.einsum("i,j,k->ijk", c, a, b))


def test_per_example_gradients(ops: Any) -> None:
  def loss(w: Any, x: Any) -> Any:
    y = ops.mul(w, x)
    return ops.sum(ops.mul(y, y))

  w, xs = _values(3), _values(5, 3)
  got = gnomon.vmap(gnomon.grad(loss), in_axes=(None, 0))(w, xs)
  np.testing.assert_allclose(np.asarray(got), 2 * w * xs**2, rtol=1e-6)
  total = gnomon.grad(lambda w: ops.sum(gnomon.vmap(loss, (None, 0))(w, xs)))(w)
  np.testing.assert_allclose(np.asarray(total), (2 * w * xs**2).sum(0), rtol=1e-6)


def test_jit_inside_vmap_is_traced_once_for_all(ops: Any) -> None:
  traces = 0

  @gnomon.jit
  def f(x: Any) -> Any:
    nonlocal traces
    traces += 1
    return ops.sin(x)

  for n in (2, 3, 4):
    gnomon.vmap(f)(_values(n))
  assert traces == 1


@pytest.mark.parametrize("first", [None, 0, 1, 2])
@pytest.mark.parametrize("second", [None, 0, 1, 2])
@pytest.mark.parametrize("shapes", [
    ((3, 4), (3, 4)), ((), (3, 4)), ((3, 4), ()), ((), ())])
def test_operands_mapped_along_different_axes(
    ops: Any, first: int | None, second: int | None, shapes: Any) -> None:
  """An elementwise operation against a loop, and its derivatives too."""
  dims = [d if d is None else min(d, len(s)) for d, s in zip(
      (first, second), shapes, strict=True)]
  if dims == [None, None]:
    return
  args = [
      _values(*s) if d is None else _values(*s[:d], 5, *s[d:])
      for s, d in zip(shapes, dims, strict=True)]

  def parts(i: int) -> list[Any]:
    return [a if d is None else np.take(a, i, d)
            for a, d in zip(args, dims, strict=True)]

  want = np.stack([parts(i)[0] * parts(i)[1] for i in range(5)])
  got = gnomon.vmap(ops.mul, tuple(dims))(*args)
  np.testing.assert_allclose(np.asarray(got), want)
  slopes = gnomon.vmap(
      gnomon.grad(lambda x, y: ops.sum(ops.mul(x, y)), (0, 1)), tuple(dims))(*args)
  for k, slope in enumerate(slopes):
    loop = np.stack([
        np.broadcast_to(parts(i)[1 - k], want.shape[1:]).sum()
        if not shapes[k] else np.broadcast_to(parts(i)[1 - k], shapes[k])
        for i in range(5)])
    np.testing.assert_allclose(np.asarray(slope), loop)


def test_entries_for_keyword_arguments_are_refused_with_the_reason(ops: Any) -> None:
  xs = np.ones(2, np.float32)
  with pytest.raises(ValueError, match="keyword arguments 'y' have no entry"):
    gnomon.vmap(ops.mul, in_axes=(0, 0))(xs, y=xs)


@pytest.mark.parametrize(
    "x", ["text", None, object(), len, b"x", ["a", 1]],
    ids=["str", "None", "object", "function", "bytes", "list"])
def test_what_is_not_mapped_may_be_anything(ops: Any, x: Any) -> None:
  seen: list[Any] = []

  def f(v: Any, w: Any) -> Any:
    seen.append(w)
    return ops.neg(v)

  ones = np.ones(3, np.float32)
  mapped = gnomon.vmap(f, in_axes=(0, None))
  np.testing.assert_array_equal(mapped(ones, x), -ones)
  np.testing.assert_array_equal(gnomon.jit(lambda v: mapped(v, x))(ones), -ones)
  held = gnomon.vmap(lambda v, d: f(v, d["x"]), in_axes=(0, {"x": None, "y": 0}))
  np.testing.assert_array_equal(held(ones, {"x": x, "y": ones}), -ones)
  assert all(w == x for w in seen)
  if x is not None and x != ["a", 1]:
    with pytest.raises(TypeError, match="the argument w of vmap of f is not a valid"):
      gnomon.vmap(f)(ones, x)
