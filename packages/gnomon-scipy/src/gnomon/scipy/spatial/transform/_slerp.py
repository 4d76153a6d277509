"""Rotations between given ones, at constant speed."""

from __future__ import annotations

from typing import Any, NamedTuple

import gnomon.numpy as gnp
from gnomon.numpy._promotion import promote_dtypes_inexact
from gnomon.scipy.spatial.transform._rotation import Rotation


class Slerp(NamedTuple):
  """Spherical linear interpolation; made by `Slerp.init`.

  K. Shoemake, "Animating rotation with quaternion curves", SIGGRAPH 1985.

  Attributes:
    times: when the rotations are reached, increasing.
    timedelta: the lengths of the intervals.
    rotations: at the beginning of each interval.
    rotvecs: the rotation vector of each interval.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy.spatial.transform import Rotation, Slerp
  >>> ends = Rotation.from_euler("z", gnp.array([[0.0], [90.0]]), degrees=True)
  >>> between = Slerp.init(gnp.array([0.0, 1.0]), ends)
  >>> between(0.5).as_rotvec(degrees=True).round(2).tolist()
  [0.0, 0.0, 45.0]
  """

  times: Any
  timedelta: Any
  rotations: Rotation
  rotvecs: Any

  @classmethod
  def init(cls, times: Any, rotations: Rotation) -> Slerp:
    """Interpolates between rotations.

    Args:
      times: an array of shape `(n,)`, increasing.
      rotations: a stack of n rotations, at least two.

    Raises:
      ValueError: there are less, or the shapes do not fit.
    """
    if not isinstance(rotations, Rotation) or rotations.single or len(rotations) < 2:
      raise ValueError(
          "Slerp: `rotations` must be a stack of at least 2 rotations, got "
          f"{rotations!r}")
    (times,) = promote_dtypes_inexact(gnp.asarray(times))
    if times.shape != (len(rotations),):
      raise ValueError(
          "Slerp: Expected number of rotations to be equal to number of timestamps "
          f"given, got {len(rotations)} and times of shape {times.shape}")
    start, end = Rotation(rotations.quat[:-1]), Rotation(rotations.quat[1:])
    return cls(times, gnp.diff(times), start, (start.inv() * end).as_rotvec())

  def __call__(self, times: Any) -> Rotation:
    """The rotations at some times; outside of the intervals, as the nearest goes on.

    Args:
      times: a number or a vector.

    Raises:
      ValueError: there are more axes.
    """
    times = gnp.asarray(times)
    if times.ndim > 1:
      raise ValueError(
          f"Slerp: `times` must be at most 1-dimensional, got the shape {times.shape}")
    last = self.times.shape[0] - 2
    i = gnp.clip(gnp.searchsorted(self.times, times) - 1, 0, last)
    part = (times - self.times[i]) / self.timedelta[i]
    turn = Rotation.from_rotvec(self.rotvecs[i] * part[..., None])
    out: Rotation = Rotation(self.rotations.quat[i]) * turn
    return out
