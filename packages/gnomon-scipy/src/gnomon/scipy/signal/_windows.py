"""Windows that segments of signals are multiplied by: found by name, or checked.

Formulas: F. J. Harris, "On the use of windows for harmonic analysis with the discrete
Fourier transform", Proc. IEEE 66 (1978); A. H. Nuttall, IEEE Trans. ASSP 29 (1981).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

Values = Any


class _Kind(NamedTuple):
  """A window's formula, of its size and of as many numbers as `least` at least."""

  formula: Callable[..., Values]
  least: int = 0


def _cosines(n: int, coefficients: Sequence[float]) -> Values:
  angle = 2 * np.pi * np.arange(n) / (n - 1)
  return sum((-1) ** k * a * np.cos(k * angle) for k, a in enumerate(coefficients))


def _sum_of_cosines(*coefficients: float) -> _Kind:
  return _Kind(lambda n: _cosines(n, coefficients) + np.zeros(n))


def _from_middle(n: int) -> Values:
  return np.arange(n) - (n - 1) / 2


def _triang(n: int) -> Values:
  return 1 - np.abs(_from_middle(n)) / ((n + n % 2) / 2)


def _bartlett(n: int) -> Values:
  return 1 - np.abs(_from_middle(n)) / ((n - 1) / 2)


def _parzen(n: int) -> Values:
  at = np.abs(_from_middle(n))
  far = at / (n / 2)
  return np.where(at <= (n - 1) / 4, 1 - 6 * far ** 2 + 6 * far ** 3, 2 * (1 - far) ** 3)


def _bohman(n: int) -> Values:
  far = np.abs(_from_middle(n)) / ((n - 1) / 2)
  out = (1 - far) * np.cos(np.pi * far) + np.sin(np.pi * far) / np.pi
  out[[0, -1]] = 0
  return out


def _barthann(n: int) -> Values:
  far = np.abs(np.arange(n) / (n - 1) - 0.5)
  return 0.62 - 0.48 * far + 0.38 * np.cos(2 * np.pi * far)


def _cosine(n: int) -> Values:
  return np.sin(np.pi / n * (np.arange(n) + 0.5))


def _lanczos(n: int) -> Values:
  return np.sinc(_from_middle(n) / ((n - 1) / 2))


def _exponential(n: int, center: float | None = None, tau: float = 1.0) -> Values:
  middle = (n - 1) / 2 if center is None else center
  return np.exp(-np.abs(np.arange(n) - middle) / tau)


def _tukey(n: int, alpha: float = 0.5) -> Values:
  if alpha <= 0:
    return np.ones(n)
  edge = (1 - np.abs(_from_middle(n)) / ((n - 1) / 2)) / min(alpha, 1.0)
  return np.where(edge < 1, 0.5 * (1 - np.cos(np.pi * edge)), 1.0)


def _kaiser(n: int, beta: float) -> Values:
  return np.kaiser(n, beta)


def _gaussian(n: int, std: float) -> Values:
  return np.exp(-0.5 * (_from_middle(n) / std) ** 2)


def _general_gaussian(n: int, p: float, sig: float) -> Values:
  return np.exp(-0.5 * np.abs(_from_middle(n) / sig) ** (2 * p))


def _general_hamming(n: int, alpha: float) -> Values:
  return _cosines(n, (alpha, 1 - alpha))


_KINDS = {
    "boxcar": _Kind(np.ones),
    "hann": _sum_of_cosines(0.5, 0.5),
    "hamming": _sum_of_cosines(0.54, 0.46),
    "blackman": _sum_of_cosines(0.42, 0.5, 0.08),
    "blackmanharris": _sum_of_cosines(0.35875, 0.48829, 0.14128, 0.01168),
    "nuttall": _sum_of_cosines(0.3635819, 0.4891775, 0.1365995, 0.0106411),
    "flattop": _sum_of_cosines(
        0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368),
    "triang": _Kind(_triang),
    "bartlett": _Kind(_bartlett),
    "parzen": _Kind(_parzen),
    "bohman": _Kind(_bohman),
    "barthann": _Kind(_barthann),
    "cosine": _Kind(_cosine),
    "lanczos": _Kind(_lanczos),
    "exponential": _Kind(_exponential),
    "tukey": _Kind(_tukey),
    "kaiser": _Kind(_kaiser, 1),
    "gaussian": _Kind(_gaussian, 1),
    "general_gaussian": _Kind(_general_gaussian, 2),
    "general_hamming": _Kind(_general_hamming, 1),
    "general_cosine": _Kind(_cosines, 1),
}


def named(name: str, window: Any, size: int) -> Values:
  """A window for spectra, of a size: one period of the function that has this period.

  Args:
    name: the function that asks, for messages.
    window: the window's name, or a tuple of it and of numbers; a number is the parameter
      of a Kaiser window.
    size: how many values.

  Raises:
    ValueError: there is no such window, or numbers are missing.
  """
  if isinstance(window, (int, float)):
    window = ("kaiser", window)
  kind, *numbers = (window,) if isinstance(window, str) else window
  if kind not in _KINDS:
    raise ValueError(
        f"{name}: Invalid window name {kind!r}; expected an array of {size} values, or "
        f"one of {', '.join(sorted(_KINDS))}")
  formula, least = _KINDS[kind]
  if len(numbers) < least:
    raise ValueError(
        f"{name}: the window {kind!r} has {least} parameters; expected a tuple "
        f"({kind!r}, ...) of its name and these")
  return formula(size + 1, *numbers)[:-1] if size > 1 else np.ones(size)
