"""The types for annotations can be asked what they are made of."""

from __future__ import annotations

import typing
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon.typing import ArrayLike


def test_array_like_is_a_union_of_what_functions_accept() -> None:
  assert typing.get_origin(ArrayLike) is typing.Union
  assert typing.get_args(ArrayLike) == (
      gnomon.Array, np.ndarray, np.bool_, np.number, bool, int, float, complex)


@pytest.mark.parametrize(("x", "accepted"), [
    (np.ones(2), True), (np.float32(1), True), (np.bool_(True), True), (True, True),
    (1, True), (1.5, True), (1j, True), ("a", False), ([1.0], False), (None, False)])
def test_values_are_instances(x: Any, accepted: bool) -> None:
  assert isinstance(x, ArrayLike) is accepted
