"""Mutable references against NumPy arrays that are written in place."""

from __future__ import annotations

import numpy as np
import pytest

import gnomon
import gnomon.numpy as jnp
from gnomon import lax
from gnomon.ref import AbstractRef, Ref, addupdate, get, swap
from gnomon.test_util import check_grads

F32 = np.float32


def eager(f):
  return f


both = pytest.mark.parametrize("wrap", [eager, gnomon.jit])


# ---- indices

INDICES = [
    (..., (3, 4)), ((), (3, 4)), (None, (3, 4)), (1, (3, 4)), (-1, (3, 4)), (0, (3,)),
    (slice(1, 3), (3, 4)), ((slice(None), 2), (3, 4)), ((1, slice(1, None, 2)), (3, 4)),
    ((..., 0), (2, 3, 4)), ((slice(0, 0),), (3, 4)), ((0, slice(-3, -1)), (3, 4)),
    ((np.array([0, 2]),), (3, 4)), ((np.array([0, 2]), np.array([1, 3])), (3, 4)),
    ((np.array([[0], [2]]), slice(None)), (3, 4)), ((1, np.array([0, 1])), (3, 4)),
    ((np.array([0, 1]), ..., np.array([1, 0])), (3, 4, 2)), ((), ()), (..., (0, 2)),
    ((2, np.array(1)), (3, 4))]


@both
@pytest.mark.parametrize(("idx", "shape"), INDICES)
def test_reads_and_writes_as_numpy_does(wrap, idx, shape):
  x = np.arange(np.prod(shape), dtype=F32).reshape(shape)
  where = ... if idx is None else idx
  part = x[where]
  ref = gnomon.new_ref(x)
  got = wrap(lambda r: r[idx])(ref)
  assert (got.shape, got.dtype) == (np.shape(part), F32)
  np.testing.assert_array_equal(np.asarray(got), part)

  new = np.asarray(100 + np.arange(part.size, dtype=F32).reshape(part.shape))
  expected = x.copy()
  expected[where] = new
  wrap(lambda r, v: r.__setitem__(idx, v))(ref, new)
  np.testing.assert_array_equal(np.asarray(ref[...]), expected)

  old = wrap(lambda r: swap(r, idx, -1.0))(ref)  # numbers are repeated
  np.testing.assert_array_equal(np.asarray(old), new)
  expected[where] = -1
  wrap(lambda r, v: addupdate(r, idx, v))(ref, new)
  expected[where] += new
  np.testing.assert_array_equal(np.asarray(ref[...]), expected)


@both
def test_indices_that_are_values(wrap):
  x = np.arange(12, dtype=np.int32).reshape(3, 4)
  ref = gnomon.new_ref(x)

  def f(r, i, js):
    a = r[i, 1], r[js], r[i, js], r[gnomon.ds(i, 2), 0]
    r[i, gnomon.ds(i, 2)] = js
    r[js, i] += 10
    return a

  found = wrap(f)(ref, 1, np.array([0, 2]))
  for got, expected in zip(found, (x[1, 1], x[[0, 2]], x[1, [0, 2]], x[1:3, 0])):
    np.testing.assert_array_equal(np.asarray(got), expected)
  y = x.copy()
  y[1, 1:3] = [0, 2]
  y[[0, 2], 1] += 10
  np.testing.assert_array_equal(np.asarray(ref[...]), y)


@both
def test_views(wrap):
  x = np.arange(12, dtype=F32).reshape(3, 4)
  ref = gnomon.new_ref(x)

  def f(r):
    v = r.at[1:].at[:, 1:3]
    assert (v.shape, v.dtype, v.ndim, v.size) == ((2, 2), F32, 2, 4)
    v[0] += 1
    v.at[1].set(7.0)
    v.at[1, 0].addupdate(2.0)
    return v[...], v.get((0, 0)), v.swap(0.0, (0, 1))

  a, b, c = wrap(f)(ref)
  y = x.copy()
  y[1, 1:3] += 1
  y[2, 1:3] = [9, 7]
  np.testing.assert_array_equal(np.asarray(a), y[1:, 1:3])
  assert (float(b), float(c)) == (6.0, 7.0)
  y[1, 2] = 0
  np.testing.assert_array_equal(np.asarray(ref[...]), y)


@both
def test_other_forms(wrap):
  x = np.arange(24, dtype=F32).reshape(4, 6)
  ref = gnomon.new_ref(x)

  def f(r):
    a = r.reshape(2, -1)[1, 3:], r.T[2], r.at[1].reshape((2, 3)).T[...]
    r.T[0] = jnp.arange(4.0)
    r.reshape(24)[5] = -1.0
    addupdate(r.at[2:].transpose((1, 0)), 1, 10.0)
    r.bitcast("int32").at[3, 3:].addupdate(1)  # the next number there is
    return *a, r.bitcast("uint32")[0, 1]

  a, b, c, d = wrap(f)(ref)
  np.testing.assert_array_equal(np.asarray(a), x.reshape(2, 12)[1, 3:])
  np.testing.assert_array_equal(np.asarray(b), x.T[2])
  np.testing.assert_array_equal(np.asarray(c), x[1].reshape(2, 3).T)
  assert int(d) == int(np.float32(1).view(np.uint32))
  y = x.copy()
  y[:, 0] = np.arange(4)
  y[0, 5] = -1
  y[2:, 1] += 10
  y[3, 3:] = np.nextafter(y[3, 3:], np.float32(np.inf))
  np.testing.assert_array_equal(np.asarray(ref[...]), y)


def test_forms_know_what_they_are():
  ref = gnomon.new_ref(jnp.zeros((4, 6)))
  part = ref.at[1:3].T
  assert (part.shape, part.dtype, part.ndim, part.size) == ((6, 2), F32, 2, 12)
  assert part.ref is ref
  assert len(part.transforms) == 2
  assert part.type is AbstractRef(gnomon.typeof(jnp.zeros((6, 2))))
  assert "[1:3,:]{transpose([1, 0])}: Ref{float32[6,2]}" in repr(part)
  assert not (part.is_dynamic_size)
  assert not (part.multiref)
  assert ref.aval.reshape(ref, 24).shape == (24,)
  for call, message in (
      (lambda: ref.reshape(5, -1), r"cannot be reshaped to \(5, -1\)"),
      (lambda: ref.transpose((0, 0)), "needs a permutation"),
      (lambda: ref.bitcast("int16"), "needs a dtype of the same size")):
    with pytest.raises(ValueError, match=message):
      call()


@pytest.mark.parametrize("dtype", [
    "bool", "int8", "uint32", "float16", "bfloat16", "complex64", "float8_e4m3fn"])
def test_dtypes(dtype):
  x = jnp.asarray([1, 0, 1], dtype)
  ref = gnomon.new_ref(x)
  assert ref.dtype == x.dtype
  gnomon.jit(lambda r: r.__setitem__(0, r[1]))(ref)
  np.testing.assert_array_equal(np.asarray(ref[...]), np.asarray(x)[[1, 1, 2]])


@both
@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize(("idx", "want"), [
    (7, [0, 1, 5]), (-1, [0, 1, 5]), (-9, [5, 1, 2]), ([7, 0], [5, 1, 2]),
    ([-9, 0], [5, 1, 2])])
def test_a_position_out_of_range_is_the_nearest_and_several_are_dropped(
    wrap, idx, want, add):
  ref = gnomon.new_ref(jnp.arange(3.0))
  write = addupdate if add else gnomon.ref.set
  wrap(lambda i: write(ref, i, jnp.full(i.shape, 5.0)))(jnp.asarray(idx))
  want = np.asarray(want, F32)
  np.testing.assert_array_equal(
      ref[...], np.where(want == 5, np.arange(3) + 5, want) if add else want)


def test_the_nearest_position_is_found_for_each_element_of_vmap():
  ref = gnomon.new_ref(jnp.arange(6.0).reshape(2, 3))
  gnomon.vmap(lambda r, i: gnomon.ref.set(r, i, 9.0))(ref, jnp.asarray([7, -9]))
  np.testing.assert_array_equal(ref[...], [[0, 1, 9], [9, 4, 5]])


# ---- values


def test_what_a_reference_knows():
  ref = gnomon.new_ref(jnp.arange(6.0).reshape(2, 3))
  assert (ref.shape, ref.dtype, ref.ndim, ref.size, len(ref)) == ((2, 3), F32, 2, 6, 2)
  assert isinstance(ref, Ref)
  assert not isinstance(ref, gnomon.Array)
  assert not isinstance(jnp.ones(3), Ref)
  assert ref.aval is AbstractRef(gnomon.typeof(jnp.ones((2, 3))))
  assert ref.sharding == jnp.ones(3).sharding
  assert not ref.committed
  assert ref.unsafe_buffer_pointer() > 0
  assert repr(gnomon.new_ref(jnp.ones(2))) == "Ref([1., 1.], dtype=float32)"
  assert gnomon.tree.leaves([ref]) == [ref]
  assert {ref: 1}[ref] == 1

  @gnomon.jit
  def f(r):
    assert isinstance(r, Ref)
    assert not isinstance(r, gnomon.Array)
    assert (r.shape, len(r)) == ((2, 3), 2)
    return r[0, 0]

  assert float(f(ref)) == 0.0
  assert gnomon.eval_shape(lambda r: r[0], ref).shape == (3,)


def test_nothing_else_changes():
  x = jnp.arange(3.0)
  ref = gnomon.new_ref(x)
  whole, part = ref[...], ref[:]
  add = gnomon.jit(lambda r: r.__setitem__(..., r[...] + 1))
  for _ in range(3):
    add(ref)
    ref[0] += 1.0
  kept = ref[...]
  y = jnp.full(3, 7.0)
  ref[...] = y
  add(ref)
  np.testing.assert_array_equal(np.asarray(x), [0, 1, 2])
  np.testing.assert_array_equal(np.asarray(whole), [0, 1, 2])
  np.testing.assert_array_equal(np.asarray(part), [0, 1, 2])
  np.testing.assert_array_equal(np.asarray(kept), [6, 4, 5])
  np.testing.assert_array_equal(np.asarray(y), [7, 7, 7])
  np.testing.assert_array_equal(np.asarray(gnomon.freeze(ref)), [8, 8, 8])


def test_programs_write_in_place():
  ref = gnomon.new_ref(jnp.zeros(100_000))
  step = gnomon.jit(lambda r, i: r.__setitem__(i, r[i] + 1))
  step(ref, 0)
  before = ref.unsafe_buffer_pointer()
  for i in range(5):
    step(ref, i)
  assert ref.unsafe_buffer_pointer() == before
  np.testing.assert_array_equal(np.asarray(ref[:6]), [2, 1, 1, 1, 1, 0])


def test_weak_numbers_take_the_type():
  ref = gnomon.new_ref(jnp.zeros(2, "bfloat16"))
  ref[...] += 1.0
  ref[0] = 3
  assert ref[...].dtype == jnp.bfloat16
  assert np.asarray(ref[...]).astype(F32).tolist() == [3.0, 1.0]


@both
def test_internal_references(wrap):
  def f(x):
    ref = gnomon.new_ref(jnp.zeros(3))
    ref[0] += x
    other = gnomon.empty_ref(gnomon.ShapeDtypeStruct((), F32))
    other[...] = 2 * x
    ref[2] = other[...]
    gnomon.free_ref(other)
    return gnomon.freeze(ref), x

  np.testing.assert_array_equal(np.asarray(wrap(f)(2.0)[0]), [2, 0, 4])
  assert "add" not in gnomon.jit(lambda x: (f(x), x)[1]).lower(1.0).as_text()


# ---- errors


def _twice(end):
  def f(x):
    ref = gnomon.new_ref(x)
    end(ref)
    return ref[...]
  return f


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda r: r[3], IndexError, "index 3 is out of range for axis 0 of size 3"),
    (lambda r: r[0, 0], IndexError, "must not be longer than `shape`: 2 indices"),
    (lambda r: r[np.array([True, False, True])], TypeError, "mask of bools"),
    (lambda r: r[::-1], TypeError, "positive step"),
    (lambda r: r[None, 0], TypeError, "cannot add axes"),
    (lambda r: r[1.5], TypeError, "must be integers"),
    (lambda r: r[..., ...], IndexError, "one ellipsis"),
    (lambda r: r.__setitem__(0, jnp.int32(1)), ValueError, "Invalid dtype for `swap`"),
    (lambda r: r.__setitem__(0, 1j), ValueError, "Ref dtype: float32. Value dtype: c"),
    (lambda r: r.__setitem__(..., jnp.ones(4)), ValueError, r"Expected shape: \(3,\)"),
    (lambda r: r.__setitem__(0, r), TypeError, "the value is the reference"),
    (lambda r: get(jnp.ones(3)), ValueError, "Can only call `ref_get` on a `Ref`"),
    (gnomon.new_ref, TypeError, "new_ref takes an array, got the reference"),
    (lambda r: gnomon.new_ref([1, 2]), TypeError, "array"),
    (list, TypeError, "cannot be iterated over"),
    (lambda r: r + 1, TypeError, "unsupported operand"),
    (lax.sin, ValueError, "did you forget to unpack"),
    (lambda r: gnomon.jit(lambda a, b: a[0])(r, r), ValueError,
     "appeared at both a and b"),
    (lambda r: gnomon.jit(lambda a: a[0] + r[0])(r), ValueError,
     "both closed over and passed as the argument a"),
    (lambda r: gnomon.vmap(lambda a, b: a[...])(r, r), ValueError, "only one reference"),
    (lambda r: lax.scan(lambda c, _: (c, None), (r, r), None, 1), ValueError,
     r"appeared at both c\[0\] and c\[1\]"),
    (lambda r: lax.cond(True, lambda a, b: a[0], lambda a, b: b[0], r, r), ValueError,
     "for cond.*appeared at both"),
    (gnomon.jit(lambda a: a), ValueError,
     r"traced for jit returned a mutable array reference.*\n\n.*as the argument a"),
    (lambda r: gnomon.jit(gnomon.new_ref)(1.0), ValueError, r"\n\n.*created on line"),
    (lambda r: gnomon.jit(lambda: {"hi": r})(), ValueError, r"tree path result\['hi'\]"),
    (lambda r: lax.scan(lambda c, x: (gnomon.new_ref(c), x), 0, jnp.arange(3)),
     ValueError, "traced for scan returned a mutable array reference"),
    (lambda r: gnomon.grad(lambda x: (r.__setitem__(0, x), x)[1])(1.0), Exception,
     "Move the array reference to be an argument of the differentiated function"),
    (lambda r: gnomon.vmap(lambda x: (r.__setitem__(0, x), x)[1])(jnp.ones(2)),
     Exception, "unbatched array reference"),
    (lambda r: gnomon.vmap(lambda x: addupdate(r, 0, x))(jnp.ones(2)),
     Exception, "unbatched array reference"),
    (lambda r: gnomon.jit(_twice(gnomon.free_ref))(1.0), ValueError, "had been freed"),
    (lambda r: gnomon.jit(_twice(gnomon.freeze))(1.0), ValueError, "had been freed"),
    (lambda r: _twice(gnomon.freeze)(1.0), ValueError, "had been freed"),
    (lambda r: gnomon.grad(_twice(gnomon.freeze))(1.0), ValueError, "had been freed")])
def test_errors(call, error, message):
  with pytest.raises(error, match=message):
    call(gnomon.new_ref(jnp.zeros(3)))


def test_a_box_must_not_hold_values_of_inner_transformations():
  def f(x):
    ref = gnomon.new_ref(x)
    gnomon.vmap(lambda y: ref.__setitem__(..., y))(jnp.ones(2))
    return ref[...]

  with pytest.raises(Exception, match="unbatched array reference"):
    gnomon.grad(f)(1.0)


def test_references_end_with_their_transformation():
  kept = []
  gnomon.grad(lambda x: (kept.append(gnomon.new_ref(x)), x)[1])(1.0)
  with pytest.raises(gnomon.errors.UnexpectedTracerError):
    kept[0][...]


# ---- printing


def test_printed_as_jax_does():
  def f(r, i):
    r[...] = r[...] * 2.0
    a = swap(r, 0, 1.0)
    addupdate(r, (slice(1, None),), r[i])
    q = gnomon.new_ref(a)
    return gnomon.freeze(q)

  text = str(gnomon.make_jaxpr(lambda r: r.T.at[1].set(r.reshape(3, 2)[0]))(
      gnomon.new_ref(jnp.zeros((2, 3)))))
  assert "b:f32[2] <- a{reshape([3, 2])}[0,:]" in text
  assert "a{transpose([1, 0])}[1,:] <- b" in text
  text = str(gnomon.make_jaxpr(f)(gnomon.new_ref(jnp.zeros(3)), 1))
  for part in (
      "{ lambda ; a:Ref{f32[3]} b:i32[]. let", "c:f32[3] <- a[...]", "a[...] <- d",
      "e:f32[], a[0] <- a[0], 1.0:f32[]", "f:f32[] <- a[b]", "a[1:] += g",
      "h:Ref{f32[]} = new_ref[kind=None memory_space=None] e", "i:f32[] = freeze h"):
    assert part in text, text


# ---- transformations: a program on references against the same on NumPy arrays


def _accumulate(x, xp, make, read):
  """Writes in every way; works with references and with NumPy arrays."""
  ref = make(xp.stack([x, x * 2.0, x * 3.0]))
  ref[0] = xp.sin(ref[1])
  ref[1:] += ref[0] * x
  ref[2] = ref[2] * ref[1]
  ref[...] = ref[...] * 0.5
  return read(ref)


def _reference(x):
  return _accumulate(x, jnp, gnomon.new_ref, gnomon.freeze)


def _numpy(x):
  return _accumulate(x, np, np.array, lambda a: a)


X = np.linspace(0.5, 1.5, 4)


@pytest.mark.parametrize("transform", [
    eager, gnomon.jit, lambda f: gnomon.jit(gnomon.jit(f)), gnomon.checkpoint,
    lambda f: lambda x: lax.cond(True, f, f, x),
    lambda f: gnomon.jit(lambda x: lax.cond(x[0] < 9, f, f, x)),
    lambda f: lambda x: lax.scan(lambda c, _: (c, f(x)), 0, None, 2)[1][1],
    lambda f: gnomon.vmap(f, out_axes=1),
    lambda f: gnomon.vmap(gnomon.jit(f), out_axes=1),
], ids=[
    "eager", "jit", "jit-jit", "checkpoint", "cond", "jit-cond",
    "scan", "vmap", "vmap-jit"])
def test_values_and_derivatives(transform):
  with gnomon.enable_x64(True):
    f = transform(_reference)
    np.testing.assert_allclose(np.asarray(f(X)), _numpy(X), rtol=1e-12)
    order = 2 if transform in (eager, gnomon.jit) else 1
    check_grads(f, (X,), order, ["fwd", "rev"], rtol=1e-5)


def test_jacobians_and_nested_derivatives():
  def power(x):  # x ** 4
    ref = gnomon.new_ref(x)

    @gnomon.jit
    def square():
      ref[...] *= ref[...]

    square()
    lax.scan(lambda c, _: (square(), None), None, None, 1)
    return ref[...]

  g = power
  for expected in (81.0, 108.0, 108.0, 72.0, 24.0):
    for wrap in (eager, gnomon.jit):
      assert float(wrap(g)(3.0)) == pytest.approx(expected)
    g = gnomon.grad(g)
  jac = gnomon.jacrev(_reference)(X.astype(F32))
  np.testing.assert_allclose(
      np.asarray(jac), np.asarray(gnomon.jacfwd(_reference)(X.astype(F32))), rtol=1e-5)


@both
def test_loops_over_and_with_references(wrap):
  total, rows = gnomon.new_ref(jnp.zeros(2)), gnomon.new_ref(jnp.ones((4, 2)))
  read_only = gnomon.new_ref(jnp.asarray(2.0))

  def f(xs):
    def body(c, inputs):
      x, row = inputs
      total[0] += x * read_only[...]
      row[1] = total[0] + row[0]
      lax.while_loop(
          lambda i: (i < 2) & (total[1] < 100),
          lambda i: (addupdate(total, 1, x), i + 1)[1], 0)
      lax.switch(c % 3, [
          lambda: None, lambda: row.__setitem__(0, -1.0),
          lambda: addupdate(total, ..., 0.5)])
      return c + 1, total[...]

    return lax.scan(body, 0, (xs, rows))

  _, ys = wrap(f)(jnp.arange(4.0))
  t, r, expected = np.zeros(2), np.ones((4, 2)), []
  for c in range(4):
    t[0] += c * 2
    r[c, 1] = t[0] + r[c, 0]
    t[1] += 2 * c
    if c % 3 == 1:
      r[c, 0] = -1
    if c % 3 == 2:
      t += 0.5
    expected.append(t.copy())
  np.testing.assert_allclose(np.asarray(ys), expected)
  np.testing.assert_allclose(np.asarray(total[...]), t)
  np.testing.assert_allclose(np.asarray(rows[...]), r)
  assert float(read_only[...]) == 2.0


def test_reverse_scans_and_unrolled_ones():
  for options in ({"reverse": True}, {"unroll": 2}, {"unroll": True}):
    seen = gnomon.new_ref(jnp.zeros(5, "int32"))
    count = gnomon.new_ref(0)

    def body(c, x, seen=seen, count=count):
      seen[count[...]] = x
      count[...] += 1
      return c, None

    lax.scan(body, None, jnp.arange(5), **options)
    order = list(range(5))[::-1] if "reverse" in options else list(range(5))
    assert np.asarray(seen[...]).tolist() == order


@both
def test_vmap_over_references(wrap):
  ref = gnomon.new_ref(jnp.zeros((3, 2)))
  same = gnomon.new_ref(jnp.asarray([1.0, 2.0]))

  def f(r, i, v):
    r[i] += v + same[0]
    r[...] *= 2.0
    return r[i], same[i]

  a, b = wrap(gnomon.vmap(f, in_axes=(0, 0, 0)))(
      ref, np.array([0, 1, 1]), jnp.arange(3.0))
  expected = np.array([[2.0, 0], [0, 4], [0, 6]])
  np.testing.assert_array_equal(np.asarray(ref[...]), expected)
  np.testing.assert_array_equal(np.asarray(a), [2, 4, 6])
  np.testing.assert_array_equal(np.asarray(b), [1, 2, 2])
  wrap(gnomon.vmap(lambda r: r.__setitem__(..., 1.0), in_axes=1))(ref)
  np.testing.assert_array_equal(np.asarray(ref[...]), np.ones((3, 2)))
  wrap(gnomon.vmap(gnomon.vmap(lambda r, x: addupdate(r, (), x)), in_axes=(1, 1)))(
      ref, jnp.arange(6.0).reshape(3, 2))
  np.testing.assert_array_equal(
      np.asarray(ref[...]), 1 + np.arange(6).reshape(3, 2))


@both
def test_references_outside_of_a_derivative(wrap):
  """They can be read and written, with values that are not differentiated."""
  count, scale = gnomon.new_ref(0), gnomon.new_ref(3.0)

  def f(x):
    count[...] += 1
    return x * x * scale[...]

  g = wrap(gnomon.grad(wrap(f)))
  assert [float(g(2.0)), float(g(2.0))] == [12.0, 12.0]
  assert int(count[...]) == 2
  assert float(gnomon.grad(lambda r, x: x * r[...], 1)(scale, 2.0)) == 3.0


@both
def test_backward_rules_write_to_references(wrap):
  @gnomon.custom_vjp
  def stash(ref, x):
    return x

  def backward(ref, ct):
    ref[...] = ct
    return None, ct

  stash.defvjp(lambda ref, x: (x, ref), backward)

  def f(ref, x):
    def body(x, _):
      return jnp.sin(stash(ref, jnp.sin(x))), None

    return lax.scan(body, x, None, 1)[0]

  for body in (f, gnomon.checkpoint(f)):
    ref = gnomon.new_ref(jnp.float32(0.0))
    found = gnomon.grad(wrap(body), 1)(ref, jnp.float32(1.0))
    assert float(ref[...]) == pytest.approx(np.cos(np.sin(1.0)), rel=1e-6)
    assert float(found) == pytest.approx(np.cos(np.sin(1.0)) * np.cos(1.0), rel=1e-6)


@both
def test_kinds(wrap):
  ref = gnomon.new_ref(1.0, kind="no_grad_no_remat")

  @gnomon.checkpoint
  def f(x):
    y = x * ref[...]
    ref[...] += y * y
    return y

  assert float(wrap(gnomon.grad(f))(2.0)) == 1.0
  assert float(ref[...]) == 5.0  # written once, though computed again

  def g(x):
    held = gnomon.new_ref(x, kind="no_grad")
    held[...] += x
    return held[...] * x

  assert float(wrap(gnomon.grad(g))(3.0)) == 6.0


def test_gradients_into_references():
  total = gnomon.new_ref(jnp.ones(3))
  _, pull = gnomon.vjp(lambda x: jnp.sum(x * x), jnp.arange(3.0))
  gnomon.jit(lambda: pull.with_refs(total)(1.0))()
  np.testing.assert_array_equal(np.asarray(total[...]), [1, 3, 5])


@both
def test_callbacks_get_what_references_hold(wrap, capsys):
  ref = gnomon.new_ref(jnp.arange(2.0))

  def show(r, x):
    r[0] = x
    gnomon.debug.print("{} {}", r, r.at[1])
    return gnomon.pure_callback(lambda a: np.asarray(a) * 2, x[None].repeat(2), r)

  out = wrap(show)(ref, jnp.asarray(3.0))
  gnomon.effects_barrier()
  assert capsys.readouterr().out == "[3. 1.] 1.0\n"
  np.testing.assert_array_equal(out, [6, 2])


@both
@pytest.mark.parametrize("f", [jnp.asarray, jnp.array])
def test_a_reference_is_no_array(wrap, f):
  with pytest.raises(TypeError, match=r"Read what it holds with ref\[...\]"):
    wrap(lambda r: f(r) and None)(gnomon.new_ref(jnp.ones(3)))
