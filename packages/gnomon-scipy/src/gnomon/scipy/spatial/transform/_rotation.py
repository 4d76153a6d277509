"""Rotations in three dimensions, as quaternions."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import gnomon.numpy as gnp
from gnomon import lax, random
from gnomon.numpy._promotion import promote_dtypes_inexact

_NEAR = 1e-5  # below it, series of three terms are exact to the last bit


class Rotation(NamedTuple):
  """One rotation, or a stack of them.

  Made by `from_quat` and its like: the constructor takes quaternions as they are. A
  product `a * b` is the rotation by b first, then by a; `a[i]` takes some of a stack.

  Attributes:
    quat: an array of shape `(4,)` or `(..., 4)`: quaternions of length 1, with the scalar
      last.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy.spatial.transform import Rotation
  >>> turn = Rotation.from_euler("z", 90.0, degrees=True)
  >>> (turn * turn).apply(gnp.array([1.0, 0.0, 0.0])).round(3).tolist()
  [-1.0, 0.0, 0.0]
  """

  quat: Any

  @classmethod
  def concatenate(cls, rotations: Sequence[Rotation]) -> Rotation:
    """A stack of all rotations of a sequence."""
    return cls(gnp.concatenate([gnp.atleast_2d(r.quat) for r in rotations]))

  @classmethod
  def from_euler(cls, seq: str, angles: Any, degrees: bool = False) -> Rotation:
    """Turns about up to three axes, one after the other.

    Args:
      seq: the axes: of 'xyz', they stay where they are; of 'XYZ', they turn too.
      angles: an array of shape `(..., len(seq))`; a number for one axis.
      degrees: in degrees, otherwise in radians.

    Raises:
      ValueError: the axes are none, or the shape does not fit.
    """
    axes, fixed = _axes("from_euler", seq)
    angles = _inexact(angles)
    if not angles.ndim:
      angles = angles[None]
    if angles.shape[-1] != len(axes):
      raise ValueError(
          f"Rotation.from_euler: for the axes {seq!r}, angles must have the shape (..., "
          f"{len(axes)}), got {angles.shape}")
    half = (gnp.deg2rad(angles) if degrees else angles) / 2
    out = None
    for i, axis in enumerate(axes):
      parts = [gnp.zeros_like(half[..., i])] * 3
      parts[axis] = gnp.sin(half[..., i])
      q = gnp.stack([*parts, gnp.cos(half[..., i])], -1)
      out = q if out is None else _product(q, out) if fixed else _product(out, q)
    return cls(out)

  @classmethod
  def from_matrix(cls, matrix: Any) -> Rotation:
    """Of orthogonal matrices with determinant 1, an array of shape `(..., 3, 3)`.

    S. W. Shepperd, "Quaternion from rotation matrix", J. Guid. Control 1, 1978.

    Raises:
      ValueError: the shape is another.
    """
    m = _inexact(matrix)
    _check("from_matrix", "matrix", m, (3, 3))
    diagonal = [m[..., i, i] for i in range(3)]
    trace = diagonal[0] + diagonal[1] + diagonal[2]
    candidates = []
    for i in range(3):
      j, k = (i + 1) % 3, (i + 2) % 3
      parts = [None, None, None, m[..., k, j] - m[..., j, k]]
      parts[i] = 1 - trace + 2 * diagonal[i]
      parts[j], parts[k] = (m[..., p, i] + m[..., i, p] for p in (j, k))
      candidates.append(gnp.stack(parts, -1))
    candidates.append(gnp.stack([
        m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0],
        m[..., 1, 0] - m[..., 0, 1], 1 + trace], -1))
    chosen = gnp.argmax(gnp.stack([*diagonal, trace], -1), -1)[..., None]
    out = candidates[3]
    for i in range(3):
      out = gnp.where(chosen == i, candidates[i], out)
    return cls(_normalized(out))

  @classmethod
  def from_mrp(cls, mrp: Any) -> Rotation:
    """Of modified Rodrigues parameters, an array of shape `(..., 3)`.

    Raises:
      ValueError: the shape is another.
    """
    mrp = _inexact(mrp)
    _check("from_mrp", "mrp", mrp, (3,))
    size = 1 + _square(mrp)
    return cls(gnp.concatenate([2 * mrp, 2 - size], -1) / size)

  @classmethod
  def from_quat(cls, quat: Any) -> Rotation:
    """Of quaternions of any length but 0, an array of shape `(..., 4)`, the scalar last.

    Raises:
      ValueError: the shape is another.
    """
    quat = _inexact(quat)
    _check("from_quat", "quat", quat, (4,))
    return cls(_normalized(quat))

  @classmethod
  def from_rotvec(cls, rotvec: Any, degrees: bool = False) -> Rotation:
    """Of vectors along the axis, with the angle as length: an array of shape `(..., 3)`.

    Raises:
      ValueError: the shape is another.
    """
    rotvec = _inexact(rotvec)
    _check("from_rotvec", "rotvec", rotvec, (3,))
    if degrees:
      rotvec = gnp.deg2rad(rotvec)
    square = _square(rotvec)
    near = square < _NEAR
    angle = gnp.sqrt(gnp.where(near, 1, square))
    scale = gnp.where(
        near, 0.5 - square / 48 + square * square / 3840, gnp.sin(angle / 2) / angle)
    cosine = gnp.where(
        near, 1 - square / 8 + square * square / 384, gnp.cos(angle / 2))
    return cls(gnp.concatenate([scale * rotvec, cosine], -1))

  @classmethod
  def identity(cls, num: int | None = None, dtype: Any = float) -> Rotation:
    """No rotation, or a stack of `num`."""
    one = gnp.array([0, 0, 0, 1], dtype=dtype)
    return cls(one if num is None else gnp.tile(one, (num, 1)))

  @classmethod
  def random(cls, random_key: Any, num: int | None = None) -> Rotation:
    """A rotation, or a stack of `num`, each as probable as any other."""
    shape = (4,) if num is None else (num, 4)
    return cls(_normalized(random.normal(random_key, shape)))

  def as_euler(self, seq: str, degrees: bool = False) -> Any:
    """Angles of turns about three axes, in an array of shape `(..., 3)`.

    Where they are not unique, the third is 0. E. Bernardes, S. Viollet, "Quaternion to
    Euler angles conversion: a direct, general and computationally efficient method", PLoS
    ONE 17, 2022.

    Args:
      seq: three axes, see `from_euler`, each different from the one before.
      degrees: in degrees, otherwise in radians.

    Raises:
      ValueError: the axes are not as above.
    """
    axes, fixed = _axes("as_euler", seq)
    if len(axes) != 3 or axes[0] == axes[1] or axes[1] == axes[2]:
      raise ValueError(
          "Rotation.as_euler: seq must be three axes, each different from the one "
          f"before, got {seq!r}")
    i, j, k = axes if fixed else axes[::-1]
    symmetric = i == k
    k = 3 - i - j if symmetric else k
    sign = (i - j) * (j - k) * (k - i) // 2
    a, b, c, d = self.quat[..., 3], *(self.quat[..., p] for p in (i, j, k))
    d = d * sign
    if not symmetric:
      a, b, c, d = a - c, b + d, c + a, d - b
    middle = 2 * gnp.arctan2(gnp.hypot(c, d), gnp.hypot(a, b))
    total, difference = gnp.arctan2(b, a), gnp.arctan2(d, c)
    none, whole = gnp.abs(middle) <= 1e-7, gnp.abs(middle - math.pi) <= 1e-7
    alone = gnp.where(none, 2 * total, (-2 if fixed else 2) * difference)
    outer = [total - difference, total + difference]
    if not fixed:
      outer.reverse()
    first = gnp.where(none | whole, alone, outer[0])
    third = gnp.where(none | whole, 0, outer[1])
    if not symmetric:
      middle = middle - math.pi / 2
      first, third = (first, third * sign) if fixed else (first * sign, third)
    angles = gnp.stack([first, middle, third], -1)
    angles = gnp.where(angles < -math.pi, angles + 2 * math.pi, angles)
    angles = gnp.where(angles > math.pi, angles - 2 * math.pi, angles)
    return gnp.rad2deg(angles) if degrees else angles

  def as_matrix(self) -> Any:
    """Orthogonal matrices, an array of shape `(..., 3, 3)`."""
    x, y, z, w = (self.quat[..., i] for i in range(4))
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]
    return gnp.stack([gnp.stack(row, -1) for row in rows], -2)

  def as_mrp(self) -> Any:
    """Modified Rodrigues parameters, at most 1 long: an array of shape `(..., 3)`."""
    q = self.quat
    q = gnp.where(q[..., 3:] < 0, -q, q)
    return q[..., :3] / (1 + q[..., 3:])

  def as_quat(self, canonical: bool = False, scalar_first: bool = False) -> Any:
    """Quaternions, an array of shape `(..., 4)`.

    Args:
      canonical: of the two of each rotation, that with a positive scalar; if it is 0,
        with a positive first number of those that are not.
      scalar_first: puts the scalar before the others.
    """
    q = self.quat
    if canonical:
      order = [3, 0, 1, 2]
      sign = gnp.zeros_like(q[..., :1])
      for i in order:
        sign = gnp.where(sign == 0, gnp.sign(q[..., i:i + 1]), sign)
      q = q * sign
    return gnp.roll(q, 1, -1) if scalar_first else q

  def as_rotvec(self, degrees: bool = False) -> Any:
    """Vectors along the axis, with the angle as length: an array of shape `(..., 3)`."""
    q = self.as_quat(canonical=True)
    vector, scalar = q[..., :3], q[..., 3:]
    square = _square(vector)
    near = square < _NEAR
    size = gnp.sqrt(gnp.where(near, 1, square))
    tangent = square / gnp.square(gnp.where(near, scalar, 1))
    series = 2 / gnp.where(near, scalar, 1) * (
        1 - tangent / 3 + tangent * tangent / 5)
    out = vector * gnp.where(near, series, 2 * gnp.arctan2(size, scalar) / size)
    return gnp.rad2deg(out) if degrees else out

  def apply(self, vectors: Any, inverse: bool = False) -> Any:
    """Turns vectors, an array of shape `(..., 3)` that broadcasts with the stack.

    Args:
      vectors: what to turn.
      inverse: turns back.

    Raises:
      ValueError: the shape does not fit.
    """
    vectors = _inexact(vectors)
    _check("apply", "vectors", vectors, (3,))
    matrix = self.as_matrix()
    if inverse:
      matrix = gnp.swapaxes(matrix, -1, -2)
    return gnp.matmul(matrix, vectors[..., None], precision="highest")[..., 0]

  def inv(self) -> Rotation:
    """The inverse of each rotation."""
    return Rotation(gnp.concatenate([-self.quat[..., :3], self.quat[..., 3:]], -1))

  def magnitude(self) -> Any:
    """The angles of the rotations, in 0 to pi."""
    sine = gnp.linalg.norm(self.quat[..., :3], axis=-1)
    return 2 * gnp.arctan2(sine, gnp.abs(self.quat[..., 3]))

  def mean(self, weights: Any = None) -> Rotation:
    """The rotation that a stack of them is nearest to, by the chordal distance.

    F. L. Markley et al., "Averaging quaternions", J. Guid. Control Dyn. 30, 2007.

    Args:
      weights: an array with a number for each rotation; None for equal ones.

    Raises:
      TypeError: there is one rotation, and no stack.
      ValueError: the shape does not fit.
    """
    n = len(self)
    q = self.quat
    weights = gnp.ones(n, q.dtype) if weights is None else gnp.asarray(weights, q.dtype)
    if weights.shape != (n,):
      raise ValueError(
          f"Rotation.mean: weights must have the shape ({n},), one number for each "
          f"rotation, got {weights.shape}")
    form = gnp.matmul(q.T * weights[None], q, precision="highest")
    return Rotation(lax.linalg.eigh(form)[0][:, -1])

  @property
  def single(self) -> bool:
    """Whether this is one rotation, and no stack."""
    return bool(self.quat.ndim == 1)

  def __getitem__(self, indexer: Any) -> Any:
    """Some of a stack of rotations."""
    if self.single:
      raise TypeError("Single rotation is not subscriptable: it is no stack")
    return Rotation(self.quat[indexer])

  def __len__(self) -> int:
    """How many rotations are in the stack."""
    if self.single:
      raise TypeError("Single rotation has no len(): it is no stack")
    return int(self.quat.shape[0])

  def __bool__(self) -> bool:
    """True, whatever the rotation."""
    return True

  def __mul__(self, other: Any) -> Any:
    """The rotation by `other` first, then by this one."""
    if not isinstance(other, Rotation):
      return NotImplemented
    return Rotation(_product(self.quat, other.quat))


def _inexact(x: Any) -> Any:
  (x,) = promote_dtypes_inexact(gnp.asarray(x))
  return x


def _check(method: str, argument: str, x: Any, last: tuple[int, ...]) -> None:
  if x.shape[-len(last):] != last:
    wanted = ", ".join(map(str, last))
    raise ValueError(
        f"Rotation.{method}: {argument} must have the shape (..., {wanted}), got "
        f"{x.shape}")


def _axes(method: str, seq: str) -> tuple[list[int], bool]:
  """The numbers of axes, and whether they are fixed."""
  if not re.fullmatch("[xyz]{1,3}|[XYZ]{1,3}", seq):
    raise ValueError(
        f"Rotation.{method}: Expected axes from `seq` to be from ['x', 'y', 'z'] or "
        f"['X', 'Y', 'Z'], one to three, got {seq!r}")
  return ["xyz".index(c) for c in seq.lower()], seq.islower()


def _square(v: Any) -> Any:
  return (v * v).sum(-1, keepdims=True)


def _normalized(q: Any) -> Any:
  """Divided by the largest element first, so that squares do not overflow."""
  largest = lax.stop_gradient(gnp.abs(q).max(-1, keepdims=True))
  q = q / largest
  return q / gnp.sqrt(_square(q))


def _product(p: Any, q: Any) -> Any:
  """Hamilton's product, of length 1 again."""
  x, y, z, w = (p[..., i] for i in range(4))
  a, b, c, d = (q[..., i] for i in range(4))
  return _normalized(gnp.stack([
      w * a + x * d + y * c - z * b, w * b - x * c + y * d + z * a,
      w * c + x * b - y * a + z * d, w * d - x * a - y * b - z * c], -1))
