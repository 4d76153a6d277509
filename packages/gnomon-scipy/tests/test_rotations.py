"""Rotations and their interpolation against SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.spatial.transform as reference

import gnomon
from gnomon.scipy.spatial.transform import Rotation, Slerp
from gnomon.test_util import check_grads
from gnomon.tree_util import tree_leaves

RNG = np.random.default_rng(0)
# Also small, whole and half turns, and a negative scalar.
QUATS = np.concatenate([RNG.normal(size=(6, 4)), [
    [0, 0, 0, 1], [0, 0, 0, -2], [1, 0, 0, 0], [0, -1, 0, 0], [0, 1, 1, 0],
    [1e-4, 2e-4, -1e-4, 1], [3e-9, 0, 0, 1], [1, 0, 0, -1e-5]]])
OURS: Any = Rotation.from_quat(QUATS)  # mypy takes its parts for those of a tuple
THEIRS = reference.Rotation.from_quat(QUATS)
ONE, THAT = OURS[0], THEIRS[0]


def close(got: Any, want: Any, tol: float = 1e-12) -> None:
  np.testing.assert_allclose(got, want, rtol=tol, atol=tol)


@pytest.mark.parametrize("name", ["as_matrix", "as_mrp", "as_rotvec", "magnitude"])
def test_as(name: str) -> None:
  with gnomon.enable_x64(True):
    ours: Any = Rotation.from_quat(QUATS)
    close(getattr(ours, name)(), getattr(THEIRS, name)())
    close(getattr(ours[2], name)(), getattr(THEIRS[2], name)())
  close(getattr(OURS, name)(), getattr(THEIRS, name)(), 2e-6)


@pytest.mark.parametrize("seq", ["xyz", "zyx", "yxy", "ZXY", "XZY", "YZY"])
def test_euler(seq: str) -> None:
  with gnomon.enable_x64(True):
    ours = Rotation.from_quat(QUATS[:6])
    angles = ours.as_euler(seq, degrees=True)
    close(angles, THEIRS[:6].as_euler(seq, degrees=True), 1e-10)
    again = Rotation.from_euler(seq, angles, degrees=True)
    close(again.as_matrix(), ours.as_matrix(), 1e-10)
    ends = Rotation.from_quat(QUATS[6:12])  # some angles of these are not unique
    again = Rotation.from_euler(seq, ends.as_euler(seq))
    close(again.as_matrix(), ends.as_matrix(), 1e-6)


def test_from() -> None:
  mats, vectors = THEIRS.as_matrix(), THEIRS.as_rotvec()
  with gnomon.enable_x64(True):
    close(Rotation.from_matrix(mats).as_matrix(), mats)
    close(Rotation.from_rotvec(vectors).as_matrix(), mats)
    close(Rotation.from_rotvec(np.rad2deg(vectors), degrees=True).as_matrix(), mats)
    close(Rotation.from_mrp(THEIRS.as_mrp()).as_matrix(), mats)
    close(Rotation.from_euler("y", 0.3).as_rotvec(), [0, 0.3, 0])
    for seq in ("xy", "XZ"):
      close(Rotation.from_euler(seq, [0.1, 0.2]).as_quat(),
            reference.Rotation.from_euler(seq, [0.1, 0.2]).as_quat())
    close(Rotation.identity(2).as_rotvec(), np.zeros((2, 3)))
    huge = Rotation.from_quat(1e200 * QUATS[:6])
    close(huge.as_matrix(), mats[:6])
  assert Rotation.from_quat(np.array([0, 0, 0, 1])).quat.dtype == np.float32
  many = Rotation.random(gnomon.random.key(0), 2000)
  assert abs(np.mean(many.as_matrix(), 0)).max() < 0.05


def test_quaternions() -> None:
  close(OURS.as_quat(canonical=True), THEIRS.as_quat(canonical=True), 1e-6)
  close(OURS.as_quat(scalar_first=True), THEIRS.as_quat(scalar_first=True), 1e-6)
  close(OURS.inv().as_matrix(), THEIRS.inv().as_matrix(), 1e-6)


def test_products() -> None:
  other, theirs = OURS[::-1], THEIRS[::-1]
  close((OURS * other).as_matrix(), (THEIRS * theirs).as_matrix(), 1e-6)
  close((ONE * OURS).as_matrix(), (THAT * THEIRS).as_matrix(), 1e-6)
  vectors = RNG.normal(size=(len(QUATS), 3))
  for inverse in (False, True):
    close(OURS.apply(vectors, inverse), THEIRS.apply(vectors, inverse), 1e-5)
    close(ONE.apply(vectors, inverse), THAT.apply(vectors, inverse), 1e-5)
    close(OURS.apply(vectors[0], inverse), THEIRS.apply(vectors[0], inverse), 1e-5)
  with pytest.raises(TypeError):
    _ = OURS * 2


def test_stacks() -> None:
  assert len(OURS) == len(QUATS)
  assert (ONE.single, OURS.single, bool(ONE)) == (True, False, True)
  assert Rotation.concatenate([ONE, OURS]).quat.shape == (len(QUATS) + 1, 4)
  for weights in (None, np.arange(1.0, 7.0)):
    close(OURS[:6].mean(weights).as_matrix(), THEIRS[:6].mean(weights).as_matrix(), 1e-5)
  assert len(tree_leaves(OURS)) == 1
  inverses = gnomon.jit(gnomon.vmap(Rotation.inv))(OURS)
  close(inverses.quat, OURS.inv().quat)


def test_derivatives() -> None:
  def around(v: Any) -> Any:
    r = Rotation.from_rotvec(v)
    return r.as_matrix(), r.as_rotvec(), r.as_mrp(), Rotation.from_matrix(
        r.as_matrix()).as_rotvec()

  with gnomon.enable_x64(True):
    for v in (np.zeros(3), np.array([0.001, 0.002, 0.003]), np.array([0.3, -2, 1.0])):
      check_grads(gnomon.jit(around), (v,), order=1, rtol=1e-4, atol=1e-4)


def test_slerp() -> None:
  times = np.array([0.0, 1.0, 3.0, 4.0])
  with gnomon.enable_x64(True):
    ours = Slerp.init(times, Rotation.from_quat(QUATS[:4]))
    theirs = reference.Slerp(times, THEIRS[:4])
    for t in (0.7, np.array([0.0, 0.5, 1.0, 2.5, 4.0])):
      close(ours(t).as_matrix(), theirs(t).as_matrix())


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda: Rotation.from_quat(np.ones(3)), ValueError, "quat must have"),
    (lambda: Rotation.from_matrix(np.eye(4)), ValueError, "matrix must have"),
    (lambda: Rotation.from_mrp(np.ones(4)), ValueError, "mrp must have"),
    (lambda: Rotation.from_rotvec(np.ones(4)), ValueError, "rotvec must have"),
    (lambda: Rotation.from_euler("q", 1.0), ValueError, "Expected axes"),
    (lambda: Rotation.from_euler("xy", [1.0]), ValueError, "angles must have"),
    (lambda: ONE.as_euler("xxy"), ValueError, "three axes"),
    (lambda: ONE.as_euler("xY"), ValueError, "Expected axes"),
    (lambda: ONE.apply(np.ones(4)), ValueError, "vectors must have"),
    (lambda: OURS.mean(np.ones(2)), ValueError, "weights must have"),
    (ONE.mean, TypeError, "no stack"),
    (lambda: ONE[0], TypeError, "not subscriptable"),
    (lambda: Slerp.init(np.ones(2), ONE), ValueError, "at least 2"),
    (lambda: Slerp.init(np.ones(3), OURS[:2]), ValueError, "timestamps"),
    (lambda: Slerp.init(np.arange(2), OURS[:2])(np.eye(1)), ValueError, "at most 1")])
def test_errors(call: Any, error: type[Exception], message: str) -> None:
  with pytest.raises(error, match=message):
    call()
