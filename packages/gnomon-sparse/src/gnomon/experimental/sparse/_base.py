"""What all formats of sparse arrays have in common."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import gnomon


class SparseEfficiencyError(ValueError):
  """An operation would need more elements than the sparse array has."""


class SparseEfficiencyWarning(UserWarning):
  """An operation needs more elements than the sparse array has."""


class CuSparseEfficiencyWarning(SparseEfficiencyWarning):
  """A product runs without the library for sparse matrices of NVIDIA's GPUs."""


class JAXSparse:
  """A sparse array.

  Attributes:
    shape: that of the array which it stands for.
    data: its elements.
    dtype: theirs.
    nse: how many elements it has room for.
  """

  shape: tuple[int, ...]
  data: Any
  __array_priority__: ClassVar[int] = 100
  __hash__ = None  # type: ignore[assignment]  # its elements may be traced

  def __init__(self, args: tuple[Any, ...], *, shape: Any) -> None:
    del args
    self.shape = tuple(int(n) for n in shape)

  @property
  def size(self) -> int:
    """How many elements the dense array would have."""
    return math.prod(self.shape)

  @property
  def ndim(self) -> int:
    """The number of axes."""
    return len(self.shape)

  @property
  def dtype(self) -> Any:
    """The dtype of the elements."""
    return self.data.dtype

  @property
  def nse(self) -> int:
    """How many elements there is room for."""
    raise NotImplementedError(f"{type(self).__name__}.nse")

  @property
  def T(self) -> Any:  # NumPy's name
    """The array with its axes in reverse order."""
    return self.transpose()

  def __repr__(self) -> str:
    kind = type(self).__name__
    more = "".join(
        f", {name}={getattr(self, name)}" for name in ("n_batch", "n_dense")
        if getattr(self, name, 0))
    return f"{kind}({self.dtype}{list(self.shape)}, nse={self.nse}{more})"

  def block_until_ready(self) -> JAXSparse:
    """Waits for the elements; returns the array."""
    gnomon.block_until_ready(self.tree_flatten()[0])
    return self

  def tree_flatten(self) -> tuple[Any, Any]:
    """The arrays that it consists of, and the rest."""
    raise NotImplementedError(f"{type(self).__name__}.tree_flatten")

  @classmethod
  def tree_unflatten(cls, aux_data: Any, children: Any) -> Any:
    """The inverse of `tree_flatten`."""
    raise NotImplementedError(f"{cls.__name__}.tree_unflatten")

  def transpose(self, axes: Any = None) -> Any:
    """The array with its axes in another order; reversed by default."""
    raise NotImplementedError(f"{type(self).__name__}.transpose")

  def todense(self) -> Any:
    """The dense array."""
    raise NotImplementedError(f"{type(self).__name__}.todense")
