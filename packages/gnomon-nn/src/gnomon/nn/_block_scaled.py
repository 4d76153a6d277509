"""Products of matrices of few bits, whose blocks have scales."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

import gnomon.numpy as gnp
from gnomon import custom_vjp, lax
from gnomon.core import dtypes
from gnomon.core.types import typeof

Dims = tuple[int, ...]


@dataclass(frozen=True)
class BlockScaleConfig:
  """How numbers become few bits: in blocks along an axis, each with a scale."""

  mode: str
  block_size: int
  data_type: Any
  scale_type: Any
  global_scale: Any = None
  infer_only: bool = False


def get_scaled_dot_general_config(
    mode: str, global_scale: Any = None) -> BlockScaleConfig:
  """How `scaled_dot_general` is to quantize an operand.

  Args:
    mode: `"mxfp8"`: float8_e4m3fn in blocks of 32, scales that are powers of two (Open
      Compute Project, *Microscaling formats*, 2023); `"nvfp4"`: float4_e2m1fn in blocks
      of 16, scales of float8_e4m3fn.
    global_scale: of `"nvfp4"` a further factor, of the whole operand; None: 1.

  >>> from gnomon import nn
  >>> nn.get_scaled_dot_general_config("mxfp8").block_size
  32

  Raises:
    ValueError: the mode is not known, or has no global scale.
    TypeError: the global scale is not of float32.
  """
  if mode == "mxfp8":
    if global_scale is not None:
      raise ValueError("mxfp8 has no global_scale: its block scales have a wide range")
    return BlockScaleConfig(
        mode, 32, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu)
  if mode != "nvfp4":
    raise ValueError(f"Unsupported mode: {mode}; known are mxfp8, nvfp4")
  if global_scale is None:
    global_scale = gnp.ones((1,), np.float32)
  if typeof(global_scale).dtype != np.float32:
    raise TypeError(f"global_scale must be of float32, got {typeof(global_scale)}")
  return BlockScaleConfig(
      mode, 16, ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e4m3fn, global_scale)


def scaled_matmul(
    lhs: Any, rhs: Any, lhs_scales: Any, rhs_scales: Any,
    preferred_element_type: Any = np.float32) -> Any:
  """The product of matrices whose blocks along the last axis have scales.

  It is `einsum("bmk,bnk->bmn", lhs * their scales, rhs * their scales)`, computed in
  float32.

  Args:
    lhs: shape (B, M, K).
    rhs: shape (B, N, K).
    lhs_scales: shape (B, M, number of blocks), which divides K.
    rhs_scales: shape (B, N, number of blocks), the same number.
    preferred_element_type: the dtype of the result.

  >>> import gnomon.numpy as gnp
  >>> from gnomon import nn
  >>> a, half = gnp.array([[[1.0, 2.0, 3.0]]]), gnp.array([[[0.5]]])
  >>> nn.scaled_matmul(a, a, half, half).tolist()
  [[[3.5]]]

  Raises:
    ValueError: the shapes do not fit.
  """
  lhs, rhs, lhs_scales, rhs_scales = map(gnp.asarray, (lhs, rhs, lhs_scales, rhs_scales))
  a, b, sa, sb = (typeof(x).shape for x in (lhs, rhs, lhs_scales, rhs_scales))
  if any(len(shape) != 3 for shape in (a, b, sa, sb)):
    raise ValueError(
        "scaled_matmul requires all inputs to be 3-dimensional arrays, got shapes "
        f"{a}, {b}, {sa}, {sb}")
  if a[0] != b[0] or a[2] != b[2]:
    raise ValueError(
        "scaled_matmul requires inputs a and b to have matching batch (B) and contract "
        f"(K) dimensions, but got shapes {a} and {b}")
  if sa[:2] != a[:2] or sb[:2] != b[:2] or sa[2] != sb[2] or not sa[2] or a[2] % sa[2]:
    raise ValueError(
        "scaled_matmul requires scales to have matching batch (B) and contract (K) "
        f"dimensions, but got shapes {sa} and {sb} for inputs of shapes {a} and {b}; the "
        "number of blocks must divide K")
  dtype = dtypes.check_user_dtype_supported(preferred_element_type, "scaled_matmul")
  out = lax.dot_general(
      _dequantized(lhs, lhs_scales), _dequantized(rhs, rhs_scales),
      (((2,), (2,)), ((0,), (0,))))
  return out.astype(dtype)


def _dequantized(x: Any, scales: Any) -> Any:
  """Numbers of float32, each times the scale of its block."""
  shape = typeof(x).shape
  blocks = gnp.reshape(x.astype(np.float32), (*typeof(scales).shape, -1))
  return gnp.reshape(blocks * scales.astype(np.float32)[..., None], shape)


def quantize(x: Any, config: BlockScaleConfig) -> tuple[Any, Any]:
  """Numbers of few bits in blocks along the last axis, and the scales of the blocks."""
  shape = typeof(x).shape
  blocks = gnp.reshape(
      x.astype(np.float32), (*shape[:-1], shape[-1] // config.block_size, -1))
  info = ml_dtypes.finfo(config.data_type)  # type: ignore[no-untyped-call]
  highest = float(info.max)
  needed = gnp.max(gnp.abs(blocks), axis=-1, keepdims=True) / highest
  if config.mode == "mxfp8":
    # The smallest power of two from `needed` on, among those that float32 holds exactly.
    fraction, exponent = gnp.frexp(needed)
    exponent = gnp.where(fraction > 0.5, exponent, exponent - 1)
    scales = gnp.ldexp(gnp.ones_like(needed), gnp.clip(exponent, -126, 127))
    divisor = scales
  else:
    grain = ml_dtypes.finfo(config.scale_type)  # type: ignore[no-untyped-call]
    low, high = float(grain.smallest_subnormal), float(grain.max)
    whole = gnp.asarray(config.global_scale, np.float32)
    scales = gnp.clip(needed / gnp.reshape(whole, ()), low, high)
    scales = scales.astype(config.scale_type).astype(np.float32)
    divisor = scales * gnp.reshape(whole, ())
  narrow = gnp.clip(blocks / divisor, -highest, highest).astype(config.data_type)
  return gnp.reshape(narrow, shape), scales[..., 0].astype(config.scale_type)


def scaled_dot_general(
    lhs: Any, rhs: Any, dimension_numbers: Any,
    preferred_element_type: Any = np.float32,
    configs: Sequence[BlockScaleConfig] | None = None,
    implementation: str | None = None) -> Any:
  """`lax.dot_general` of operands that are quantized first, in blocks with scales.

  Its derivatives are such products too: of the quantized cotangent and the quantized
  other operand.

  Args:
    lhs: an array.
    rhs: an array.
    dimension_numbers: as for `lax.dot_general`.
    preferred_element_type: the dtype of the result.
    configs: how to quantize `lhs`, `rhs`, and cotangents, each made by
      `get_scaled_dot_general_config`; None: not at all.
    implementation: is ignored.

  >>> import gnomon.numpy as gnp
  >>> from gnomon import nn
  >>> configs = [nn.get_scaled_dot_general_config("mxfp8")] * 3
  >>> x, dims = gnp.ones((2, 32)), (((1,), (1,)), ((), ()))
  >>> nn.scaled_dot_general(x, x, dims, configs=configs).tolist()
  [[32.0, 32.0], [32.0, 32.0]]

  Raises:
    TypeError, ValueError: the shapes do not fit the dimension numbers, or there are not
      three configs.
  """
  if configs is None:
    return lax.dot_general(
        lhs, rhs, dimension_numbers, preferred_element_type=preferred_element_type)
  if len(configs) != 3:
    raise ValueError(
        "scaled_dot_general: configs must be three, for lhs, rhs and cotangents, got "
        f"{len(configs)}")
  dtype = dtypes.check_user_dtype_supported(preferred_element_type, "scaled_dot_general")
  lhs, rhs = gnp.asarray(lhs), gnp.asarray(rhs)
  # What fits is checked, and the result's shape found, where dots do that.
  like = [gnp.zeros(typeof(x).shape, np.float32) for x in (lhs, rhs)]
  shape = typeof(lax.dot_general(like[0], like[1], dimension_numbers)).shape
  (contract, batch) = dimension_numbers
  a = _stacked(lhs, tuple(contract[0]), tuple(batch[0]))
  b = _stacked(rhs, tuple(contract[1]), tuple(batch[1]))
  return gnp.reshape(_product(tuple(configs))(a, b), shape).astype(dtype)


def _stacked(x: Any, contract: Dims, batch: Dims) -> Any:
  """An operand as matrices with the contracted axis last: shape (B, M, K)."""
  shape = typeof(x).shape
  free = tuple([d for d in range(len(shape)) if d not in contract + batch])
  sizes = [math.prod(shape[d] for d in dims) for dims in (batch, free, contract)]
  return gnp.reshape(gnp.transpose(x, (*batch, *free, *contract)), sizes)


def _product(configs: tuple[BlockScaleConfig, ...]) -> Any:
  """The product of matrices (B, M, K) and (B, N, K), with its derivatives."""
  lhs_config, rhs_config, ct_config = configs

  @custom_vjp
  def scaled_dot_general_fn(a: Any, b: Any) -> Any:
    return _quantized_matmul(a, b, lhs_config, rhs_config)

  def forward(a: Any, b: Any) -> Any:
    return scaled_dot_general_fn(a, b), (a, b)

  def backward(operands: Any, ct: Any) -> Any:
    a, b = operands
    turned = gnp.swapaxes(ct, 1, 2)
    of_a = _quantized_matmul(ct, gnp.swapaxes(b, 1, 2), ct_config, rhs_config)
    of_b = _quantized_matmul(turned, gnp.swapaxes(a, 1, 2), ct_config, lhs_config)
    return of_a.astype(typeof(a).dtype), of_b.astype(typeof(b).dtype)

  scaled_dot_general_fn.defvjp(forward, backward)
  return scaled_dot_general_fn


def _quantized_matmul(
    a: Any, b: Any, a_config: BlockScaleConfig, b_config: BlockScaleConfig) -> Any:
  """The product along the last axes of both, each quantized."""
  a, sa = quantize(_padded(a, a_config.block_size), a_config)
  b, sb = quantize(_padded(b, b_config.block_size), b_config)
  if a_config.block_size == b_config.block_size:
    out = scaled_matmul(a, b, sa, sb)
  else:
    size = max(typeof(a).shape[2], typeof(b).shape[2])
    wide = [_widened(_dequantized(x, s), size) for x, s in ((a, sa), (b, sb))]
    out = lax.dot_general(wide[0], wide[1], (((2,), (2,)), ((0,), (0,))))
  for config in (a_config, b_config):
    if config.global_scale is not None:
      out = out * gnp.reshape(gnp.asarray(config.global_scale), ())
  return out


def _padded(x: Any, block: int) -> Any:
  """`x` with zeros behind the last axis, so that it is whole blocks."""
  return _widened(x, max(1, -(-typeof(x).shape[-1] // block)) * block)


def _widened(x: Any, size: int) -> Any:
  return gnp.pad(x, ((0, 0), (0, 0), (0, size - typeof(x).shape[-1])))
