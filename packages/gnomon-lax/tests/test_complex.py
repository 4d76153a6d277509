"""Complex numbers and their parts: derivatives, cotangents, errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.testing import check_grads, check_vmap_axes


@pytest.fixture(autouse=True)
def _double() -> Iterator[None]:
  with gnomon.enable_x64(True):
    yield


_Z = np.array([[0.7 + 0.4j, -0.7 + 1.4j, -2.1 - 0.3j], [1.6 - 0.9j, 0.3j, -1.5 + 0.0j]])


def test_values() -> None:
  np.testing.assert_array_equal(lax.real(_Z), _Z.real)
  np.testing.assert_array_equal(lax.imag(_Z), _Z.imag)
  np.testing.assert_array_equal(lax.conj(_Z), _Z.conj())
  np.testing.assert_array_equal(lax.conj(_Z.real), _Z.real.astype(complex))
  np.testing.assert_array_equal(lax.complex(_Z.real, _Z.imag), _Z)
  np.testing.assert_array_equal(lax.complex(_Z.real, np.float64(2)), _Z.real + 2j)
  np.testing.assert_allclose(lax.abs(_Z), np.abs(_Z), rtol=1e-15)
  np.testing.assert_allclose(lax.sign(_Z), _Z / np.abs(_Z), rtol=1e-15)
  assert complex(lax.sign(0j)) == 0j
  assert lax.conj(np.float32(1)).dtype == lax.complex(np.float32(1), 2.0).dtype


@pytest.mark.parametrize("f", [
    lax.real, lax.imag, lax.conj, lax.abs, lax.sign,
    lambda z: lax.conj(lax.real(z)),
    lambda z: lax.complex(lax.imag(z), lax.real(z)),
    lambda z: lax.complex(lax.abs(z), np.float64(2)),
], ids=["real", "imag", "conj", "abs", "sign", "conj_of_real", "swap", "complex"])
def test_derivatives_of_both_orders_and_batches(f: Any) -> None:
  check_grads(f, (_Z,), 2, ("fwd", "rev"), 1e-6, 1e-6)
  check_vmap_axes(f, [(_Z,), (2 * _Z,), (_Z + 1j,)])
  np.testing.assert_allclose(gnomon.jit(f)(_Z), f(_Z), rtol=1e-15)


def test_cotangents_are_those_of_the_real_parts_of_products() -> None:
  """A cotangent c of z stands for Re(c z); so a gradient is that of Re, conjugated."""
  z = np.complex128(3 + 4j)
  assert complex(gnomon.grad(lax.real)(z)) == 1
  assert complex(gnomon.grad(lax.imag)(z)) == -1j
  np.testing.assert_allclose(gnomon.grad(lax.abs)(z), 0.6 - 0.8j, rtol=1e-15)
  x, y = gnomon.vjp(lax.complex, np.float64(1), np.float64(2))[1](np.complex128(5 + 7j))
  assert (float(x), float(y)) == (5.0, -7.0)


def test_derivatives_at_zero_are_zero() -> None:
  assert complex(gnomon.grad(lax.abs)(0j)) == 0
  assert complex(gnomon.jvp(lax.sign, (0j,), (1 + 0j,))[1]) == 0


@pytest.mark.parametrize(("call", "match"), [
    (lambda: lax.real(1.0), "real does not accept dtype float64"),
    (lambda: lax.imag(np.int32(1)), "imag does not accept dtype int32"),
    (lambda: lax.conj(np.float16(1)), "conj does not accept dtype float16"),
    (lambda: lax.complex(1j, 1j), "complex does not accept dtype complex128"),
    (lambda: lax.complex(np.float32(1), np.float64(1)), "the same dtypes"),
    (lambda: lax.abs(np.uint8(1)), "abs does not accept dtype uint8"),
])
def test_errors(call: Any, match: str) -> None:
  with pytest.raises(TypeError, match=match):
    call()
