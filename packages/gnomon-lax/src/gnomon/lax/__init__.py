"""Primitives of array programs, and functions close to them."""

from typing import TYPE_CHECKING

from gnomon.lax import _scatter_derivatives as _scatter_derivatives
from gnomon.lax import _slicing as _slicing  # core and other modules bind its primitive

if TYPE_CHECKING:
  # elementwise
  # shapes
  from gnomon.api.constraint import sharding_constraint_p as sharding_constraint_p
  from gnomon.api.constraint import with_sharding_constraint as with_sharding_constraint
  from gnomon.api.device import device_put_p as device_put_p
  from gnomon.api.stopping import stop_gradient as stop_gradient
  from gnomon.api.stopping import stop_gradient_p as stop_gradient_p
  from gnomon.core.derive import add_any_p as add_any_p
  from gnomon.core.derive import broadcast_in_dim_p as broadcast_in_dim_p
  from gnomon.core.derive import reduce_sum_p as reduce_sum_p

  # slicing
  from gnomon.core.derive import slice_p as slice_p
  from gnomon.core.derive import transpose_p as transpose_p
  from gnomon.core.structural import broadcast_in_dim as broadcast_in_dim
  from gnomon.core.structural import convert_element_type as convert_element_type
  from gnomon.core.structural import convert_element_type_p as convert_element_type_p
  from gnomon.core.structural import copy_p as copy_p
  from gnomon.core.structural import real_p as real_p
  from gnomon.core.structural import reduce_sum as reduce_sum
  from gnomon.core.structural import reshape as reshape
  from gnomon.core.structural import reshape_p as reshape_p
  from gnomon.core.structural import select_n as select_n
  from gnomon.core.structural import select_n_p as select_n_p
  from gnomon.core.structural import squeeze as squeeze
  from gnomon.core.structural import squeeze_p as squeeze_p
  from gnomon.core.structural import transpose as transpose

  # linear algebra
  from gnomon.lax import linalg as linalg
  from gnomon.lax._accuracy import AccuracyMode as AccuracyMode
  from gnomon.lax._accuracy import Tolerance as Tolerance
  from gnomon.lax._all_gather import all_gather as all_gather
  from gnomon.lax._all_gather import all_gather_p as all_gather_p
  from gnomon.lax._all_gather import psum_scatter as psum_scatter
  from gnomon.lax._all_to_all import all_to_all as all_to_all
  from gnomon.lax._all_to_all import all_to_all_p as all_to_all_p
  from gnomon.lax._all_to_all import pswapaxes as pswapaxes
  from gnomon.lax._all_to_all import ragged_all_to_all as ragged_all_to_all
  from gnomon.lax._all_to_all import ragged_all_to_all_p as ragged_all_to_all_p
  from gnomon.lax._approx import approx_max_k as approx_max_k
  from gnomon.lax._approx import approx_min_k as approx_min_k
  from gnomon.lax._approx import approx_top_k_p as approx_top_k_p
  from gnomon.lax._arithmetic import add as add
  from gnomon.lax._arithmetic import add_p as add_p
  from gnomon.lax._arithmetic import clamp as clamp
  from gnomon.lax._arithmetic import clamp_p as clamp_p
  from gnomon.lax._arithmetic import div as div
  from gnomon.lax._arithmetic import div_p as div_p
  from gnomon.lax._arithmetic import integer_pow as integer_pow
  from gnomon.lax._arithmetic import integer_pow_p as integer_pow_p
  from gnomon.lax._arithmetic import max as max
  from gnomon.lax._arithmetic import max_p as max_p
  from gnomon.lax._arithmetic import min as min
  from gnomon.lax._arithmetic import min_p as min_p
  from gnomon.lax._arithmetic import mul as mul
  from gnomon.lax._arithmetic import mul_p as mul_p
  from gnomon.lax._arithmetic import neg as neg
  from gnomon.lax._arithmetic import neg_p as neg_p
  from gnomon.lax._arithmetic import reciprocal as reciprocal
  from gnomon.lax._arithmetic import rem as rem
  from gnomon.lax._arithmetic import rem_p as rem_p
  from gnomon.lax._arithmetic import square as square
  from gnomon.lax._arithmetic import square_p as square_p
  from gnomon.lax._arithmetic import sub as sub
  from gnomon.lax._arithmetic import sub_p as sub_p
  from gnomon.lax._barrier import optimization_barrier as optimization_barrier
  from gnomon.lax._barrier import optimization_barrier_p as optimization_barrier_p
  from gnomon.lax._bitwise import and_p as and_p
  from gnomon.lax._bitwise import bitwise_and as bitwise_and
  from gnomon.lax._bitwise import bitwise_not as bitwise_not
  from gnomon.lax._bitwise import bitwise_or as bitwise_or
  from gnomon.lax._bitwise import bitwise_xor as bitwise_xor
  from gnomon.lax._bitwise import clz as clz
  from gnomon.lax._bitwise import clz_p as clz_p
  from gnomon.lax._bitwise import mulhi as mulhi
  from gnomon.lax._bitwise import mulhi_p as mulhi_p
  from gnomon.lax._bitwise import not_p as not_p
  from gnomon.lax._bitwise import or_p as or_p
  from gnomon.lax._bitwise import population_count as population_count
  from gnomon.lax._bitwise import population_count_p as population_count_p
  from gnomon.lax._bitwise import shift_left as shift_left
  from gnomon.lax._bitwise import shift_left_p as shift_left_p
  from gnomon.lax._bitwise import shift_right_arithmetic as shift_right_arithmetic
  from gnomon.lax._bitwise import shift_right_arithmetic_p as shift_right_arithmetic_p
  from gnomon.lax._bitwise import shift_right_logical as shift_right_logical
  from gnomon.lax._bitwise import shift_right_logical_p as shift_right_logical_p
  from gnomon.lax._bitwise import xor_p as xor_p
  from gnomon.lax._collectives import axis_index as axis_index
  from gnomon.lax._collectives import axis_index_p as axis_index_p
  from gnomon.lax._collectives import axis_size as axis_size
  from gnomon.lax._collectives import pmax as pmax
  from gnomon.lax._collectives import pmax_p as pmax_p
  from gnomon.lax._collectives import pmean as pmean
  from gnomon.lax._collectives import pmin as pmin
  from gnomon.lax._collectives import pmin_p as pmin_p
  from gnomon.lax._collectives import psum as psum
  from gnomon.lax._collectives import psum_p as psum_p
  from gnomon.lax._comparison import eq as eq
  from gnomon.lax._comparison import eq_p as eq_p
  from gnomon.lax._comparison import eq_to_p as eq_to_p
  from gnomon.lax._comparison import ge as ge
  from gnomon.lax._comparison import ge_p as ge_p
  from gnomon.lax._comparison import gt as gt
  from gnomon.lax._comparison import gt_p as gt_p
  from gnomon.lax._comparison import le as le
  from gnomon.lax._comparison import le_p as le_p
  from gnomon.lax._comparison import le_to_p as le_to_p
  from gnomon.lax._comparison import lt as lt
  from gnomon.lax._comparison import lt_p as lt_p
  from gnomon.lax._comparison import lt_to_p as lt_to_p
  from gnomon.lax._comparison import ne as ne
  from gnomon.lax._comparison import ne_p as ne_p
  from gnomon.lax._complex import abs as abs
  from gnomon.lax._complex import abs_p as abs_p
  from gnomon.lax._complex import complex as complex
  from gnomon.lax._complex import complex_p as complex_p
  from gnomon.lax._complex import conj as conj
  from gnomon.lax._complex import conj_p as conj_p
  from gnomon.lax._complex import imag as imag
  from gnomon.lax._complex import imag_p as imag_p
  from gnomon.lax._complex import real as real
  from gnomon.lax._complex import sign as sign
  from gnomon.lax._complex import sign_p as sign_p
  from gnomon.lax._composite import composite as composite

  # control flow
  from gnomon.lax._control.associative_scan import associative_scan as associative_scan
  from gnomon.lax._control.cond import cond as cond
  from gnomon.lax._control.cond import cond_p as cond_p
  from gnomon.lax._control.cond import switch as switch
  from gnomon.lax._control.custom_linear_solve import (
    custom_linear_solve as custom_linear_solve,
  )
  from gnomon.lax._control.custom_linear_solve import linear_solve_p as linear_solve_p
  from gnomon.lax._control.custom_root import custom_root as custom_root
  from gnomon.lax._control.map import map as map
  from gnomon.lax._control.platform import platform_dependent as platform_dependent
  from gnomon.lax._control.reversible import reversible_fori_loop as reversible_fori_loop
  from gnomon.lax._control.reversible import (
    reversible_while_loop as reversible_while_loop,
  )
  from gnomon.lax._control.scan import scan as scan
  from gnomon.lax._control.scan import scan_p as scan_p
  from gnomon.lax._control.while_ import fori_loop as fori_loop
  from gnomon.lax._control.while_ import while_loop as while_loop
  from gnomon.lax._control.while_ import while_p as while_p
  from gnomon.lax._conversion import bitcast_convert_type as bitcast_convert_type
  from gnomon.lax._conversion import bitcast_convert_type_p as bitcast_convert_type_p

  # convolutions
  from gnomon.lax._convolution import conv as conv
  from gnomon.lax._convolution import conv_general_dilated as conv_general_dilated
  from gnomon.lax._convolution import conv_general_dilated_p as conv_general_dilated_p
  from gnomon.lax._convolution import (
    conv_with_general_padding as conv_with_general_padding,
  )
  from gnomon.lax._convolution_forms import (
    conv_general_dilated_local as conv_general_dilated_local,
  )
  from gnomon.lax._convolution_forms import (
    conv_general_dilated_patches as conv_general_dilated_patches,
  )
  from gnomon.lax._convolution_forms import conv_transpose as conv_transpose
  from gnomon.lax._convolution_numbers import ConvDimensionNumbers as ConvDimensionNumbers
  from gnomon.lax._convolution_numbers import (
    ConvGeneralDilatedDimensionNumbers as ConvGeneralDilatedDimensionNumbers,
  )
  from gnomon.lax._convolution_numbers import (
    conv_dimension_numbers as conv_dimension_numbers,
  )
  from gnomon.lax._convolution_numbers import (
    conv_general_permutations as conv_general_permutations,
  )
  from gnomon.lax._convolution_numbers import (
    conv_general_shape_tuple as conv_general_shape_tuple,
  )
  from gnomon.lax._convolution_numbers import conv_shape_tuple as conv_shape_tuple
  from gnomon.lax._convolution_numbers import (
    conv_transpose_shape_tuple as conv_transpose_shape_tuple,
  )
  from gnomon.lax._creation import broadcasted_iota as broadcasted_iota
  from gnomon.lax._creation import dtype as dtype
  from gnomon.lax._creation import empty as empty
  from gnomon.lax._creation import empty_p as empty_p
  from gnomon.lax._creation import full as full
  from gnomon.lax._creation import full_like as full_like
  from gnomon.lax._creation import iota as iota
  from gnomon.lax._creation import iota_p as iota_p

  # cumulative operations
  from gnomon.lax._cumulative import cumlogsumexp as cumlogsumexp
  from gnomon.lax._cumulative import cumlogsumexp_p as cumlogsumexp_p
  from gnomon.lax._cumulative import cummax as cummax
  from gnomon.lax._cumulative import cummax_p as cummax_p
  from gnomon.lax._cumulative import cummin as cummin
  from gnomon.lax._cumulative import cummin_p as cummin_p
  from gnomon.lax._cumulative import cumprod as cumprod
  from gnomon.lax._cumulative import cumprod_p as cumprod_p
  from gnomon.lax._cumulative import cumsum as cumsum
  from gnomon.lax._cumulative import cumsum_p as cumsum_p

  # contractions
  from gnomon.lax._dot import DotDimensionNumbers as DotDimensionNumbers
  from gnomon.lax._dot import batch_matmul as batch_matmul
  from gnomon.lax._dot import dot as dot
  from gnomon.lax._dot import dot_general as dot_general
  from gnomon.lax._dot import dot_general_p as dot_general_p
  from gnomon.lax._dynamic import dynamic_index_in_dim as dynamic_index_in_dim
  from gnomon.lax._dynamic import dynamic_slice as dynamic_slice
  from gnomon.lax._dynamic import dynamic_slice_in_dim as dynamic_slice_in_dim
  from gnomon.lax._dynamic import dynamic_slice_p as dynamic_slice_p
  from gnomon.lax._dynamic import (
    dynamic_update_index_in_dim as dynamic_update_index_in_dim,
  )
  from gnomon.lax._dynamic import dynamic_update_slice as dynamic_update_slice
  from gnomon.lax._dynamic import (
    dynamic_update_slice_in_dim as dynamic_update_slice_in_dim,
  )
  from gnomon.lax._dynamic import dynamic_update_slice_p as dynamic_update_slice_p
  from gnomon.lax._exponential import exp as exp
  from gnomon.lax._exponential import exp2 as exp2
  from gnomon.lax._exponential import exp2_p as exp2_p
  from gnomon.lax._exponential import exp_p as exp_p
  from gnomon.lax._exponential import expm1 as expm1
  from gnomon.lax._exponential import expm1_p as expm1_p
  from gnomon.lax._exponential import log as log
  from gnomon.lax._exponential import log1p as log1p
  from gnomon.lax._exponential import log1p_p as log1p_p
  from gnomon.lax._exponential import log_p as log_p
  from gnomon.lax._exponential import logistic as logistic
  from gnomon.lax._exponential import logistic_p as logistic_p

  # Fourier transforms
  from gnomon.lax._fft import FftType as FftType
  from gnomon.lax._fft import fft as fft
  from gnomon.lax._fft import fft_p as fft_p
  from gnomon.lax._gather import gather as gather
  from gnomon.lax._gather import index_take as index_take
  from gnomon.lax._incomplete import betainc as betainc
  from gnomon.lax._incomplete import igamma as igamma
  from gnomon.lax._incomplete import igamma_grad_a as igamma_grad_a
  from gnomon.lax._incomplete import igamma_grad_a_p as igamma_grad_a_p
  from gnomon.lax._incomplete import igamma_p as igamma_p
  from gnomon.lax._incomplete import igammac as igammac
  from gnomon.lax._incomplete import igammac_p as igammac_p
  from gnomon.lax._incomplete import random_gamma_grad as random_gamma_grad
  from gnomon.lax._incomplete import (
    regularized_incomplete_beta_p as regularized_incomplete_beta_p,
  )
  from gnomon.lax._indexing import GatherDimensionNumbers as GatherDimensionNumbers
  from gnomon.lax._indexing import GatherScatterMode as GatherScatterMode
  from gnomon.lax._indexing import ScatterDimensionNumbers as ScatterDimensionNumbers
  from gnomon.lax._indexing import gather_p as gather_p
  from gnomon.lax._indexing import scatter_add_p as scatter_add_p
  from gnomon.lax._indexing import scatter_p as scatter_p
  from gnomon.lax._permute import pbroadcast as pbroadcast
  from gnomon.lax._permute import pcast as pcast
  from gnomon.lax._permute import ppermute as ppermute
  from gnomon.lax._permute import ppermute_p as ppermute_p
  from gnomon.lax._permute import pshuffle as pshuffle
  from gnomon.lax._power import cbrt as cbrt
  from gnomon.lax._power import cbrt_p as cbrt_p
  from gnomon.lax._power import pow as pow
  from gnomon.lax._power import pow_p as pow_p
  from gnomon.lax._power import rsqrt as rsqrt
  from gnomon.lax._power import rsqrt_p as rsqrt_p
  from gnomon.lax._power import sqrt as sqrt
  from gnomon.lax._power import sqrt_p as sqrt_p
  from gnomon.lax._precision import DotAlgorithm as DotAlgorithm
  from gnomon.lax._precision import DotAlgorithmPreset as DotAlgorithmPreset
  from gnomon.lax._precision import Precision as Precision
  from gnomon.lax._precision import PrecisionLike as PrecisionLike
  from gnomon.lax._ragged import RaggedDotDimensionNumbers as RaggedDotDimensionNumbers
  from gnomon.lax._ragged import ragged_dot as ragged_dot
  from gnomon.lax._ragged import ragged_dot_general as ragged_dot_general

  # reductions
  from gnomon.lax._reduce import reduce as reduce
  from gnomon.lax._reduce import reduce_p as reduce_p
  from gnomon.lax._reduction import argmax as argmax
  from gnomon.lax._reduction import argmax_p as argmax_p
  from gnomon.lax._reduction import argmin as argmin
  from gnomon.lax._reduction import argmin_p as argmin_p
  from gnomon.lax._reduction import reduce_and as reduce_and
  from gnomon.lax._reduction import reduce_and_p as reduce_and_p
  from gnomon.lax._reduction import reduce_max as reduce_max
  from gnomon.lax._reduction import reduce_max_p as reduce_max_p
  from gnomon.lax._reduction import reduce_min as reduce_min
  from gnomon.lax._reduction import reduce_min_p as reduce_min_p
  from gnomon.lax._reduction import reduce_or as reduce_or
  from gnomon.lax._reduction import reduce_or_p as reduce_or_p
  from gnomon.lax._reduction import reduce_prod as reduce_prod
  from gnomon.lax._reduction import reduce_prod_p as reduce_prod_p
  from gnomon.lax._reduction import reduce_xor as reduce_xor
  from gnomon.lax._reduction import reduce_xor_p as reduce_xor_p

  # random bits
  from gnomon.lax._rng import RandomAlgorithm as RandomAlgorithm
  from gnomon.lax._rng import rng_bit_generator as rng_bit_generator
  from gnomon.lax._rng import rng_bit_generator_p as rng_bit_generator_p
  from gnomon.lax._rng import rng_uniform as rng_uniform
  from gnomon.lax._rng import rng_uniform_p as rng_uniform_p
  from gnomon.lax._rng import threefry2x32_p as threefry2x32_p
  from gnomon.lax._rounding import RoundingMethod as RoundingMethod
  from gnomon.lax._rounding import ceil as ceil
  from gnomon.lax._rounding import ceil_p as ceil_p
  from gnomon.lax._rounding import floor as floor
  from gnomon.lax._rounding import floor_p as floor_p
  from gnomon.lax._rounding import is_finite as is_finite
  from gnomon.lax._rounding import is_finite_p as is_finite_p
  from gnomon.lax._rounding import nextafter as nextafter
  from gnomon.lax._rounding import nextafter_p as nextafter_p
  from gnomon.lax._rounding import reduce_precision as reduce_precision
  from gnomon.lax._rounding import reduce_precision_p as reduce_precision_p
  from gnomon.lax._rounding import round as round
  from gnomon.lax._rounding import round_p as round_p
  from gnomon.lax._scaled_dot import scaled_dot as scaled_dot
  from gnomon.lax._scatter import scatter as scatter
  from gnomon.lax._scatter import scatter_add as scatter_add
  from gnomon.lax._scatter import scatter_apply as scatter_apply
  from gnomon.lax._scatter import scatter_max as scatter_max
  from gnomon.lax._scatter import scatter_max_p as scatter_max_p
  from gnomon.lax._scatter import scatter_min as scatter_min
  from gnomon.lax._scatter import scatter_min_p as scatter_min_p
  from gnomon.lax._scatter import scatter_mul as scatter_mul
  from gnomon.lax._scatter import scatter_mul_p as scatter_mul_p
  from gnomon.lax._scatter import scatter_sub as scatter_sub
  from gnomon.lax._scatter import scatter_sub_p as scatter_sub_p
  from gnomon.lax._shape import broadcast as broadcast
  from gnomon.lax._shape import broadcast_shapes as broadcast_shapes
  from gnomon.lax._shape import broadcast_to_rank as broadcast_to_rank
  from gnomon.lax._shape import collapse as collapse
  from gnomon.lax._shape import concatenate as concatenate
  from gnomon.lax._shape import concatenate_p as concatenate_p
  from gnomon.lax._shape import expand_dims as expand_dims
  from gnomon.lax._shape import pad as pad
  from gnomon.lax._shape import pad_p as pad_p
  from gnomon.lax._shape import rev as rev
  from gnomon.lax._shape import rev_p as rev_p
  from gnomon.lax._shape import split as split
  from gnomon.lax._shape import split_p as split_p
  from gnomon.lax._shape import tile as tile
  from gnomon.lax._shape import tile_p as tile_p
  from gnomon.lax._slicing import index_in_dim as index_in_dim
  from gnomon.lax._slicing import slice as slice
  from gnomon.lax._slicing import slice_in_dim as slice_in_dim

  # sorting
  from gnomon.lax._sort import sort as sort
  from gnomon.lax._sort import sort_key_val as sort_key_val
  from gnomon.lax._sort import sort_p as sort_p
  from gnomon.lax._sort import top_k as top_k
  from gnomon.lax._sort import top_k_p as top_k_p
  from gnomon.lax._special import bessel_i0e as bessel_i0e
  from gnomon.lax._special import bessel_i0e_p as bessel_i0e_p
  from gnomon.lax._special import bessel_i1e as bessel_i1e
  from gnomon.lax._special import bessel_i1e_p as bessel_i1e_p
  from gnomon.lax._special import digamma as digamma
  from gnomon.lax._special import digamma_p as digamma_p
  from gnomon.lax._special import erf as erf
  from gnomon.lax._special import erf_inv as erf_inv
  from gnomon.lax._special import erf_inv_p as erf_inv_p
  from gnomon.lax._special import erf_p as erf_p
  from gnomon.lax._special import erfc as erfc
  from gnomon.lax._special import erfc_p as erfc_p
  from gnomon.lax._special import lgamma as lgamma
  from gnomon.lax._special import lgamma_p as lgamma_p
  from gnomon.lax._special import polygamma as polygamma
  from gnomon.lax._special import polygamma_p as polygamma_p
  from gnomon.lax._special import zeta as zeta
  from gnomon.lax._special import zeta_p as zeta_p
  from gnomon.lax._stack import broadcast_like as broadcast_like
  from gnomon.lax._stack import select as select
  from gnomon.lax._stack import shape_as_value as shape_as_value
  from gnomon.lax._stack import stack as stack
  from gnomon.lax._stack import stack_p as stack_p
  from gnomon.lax._stack import unstack as unstack
  from gnomon.lax._stack import unstack_p as unstack_p
  from gnomon.lax._staging import dce_sink as dce_sink
  from gnomon.lax._staging import dce_sink_p as dce_sink_p
  from gnomon.lax._staging import stage as stage
  from gnomon.lax._staging import stage_p as stage_p
  from gnomon.lax._tokens import after_all as after_all
  from gnomon.lax._tokens import after_all_p as after_all_p
  from gnomon.lax._tokens import create_token as create_token
  from gnomon.lax._tokens import create_token_p as create_token_p
  from gnomon.lax._tokens import precv as precv
  from gnomon.lax._tokens import psend as psend
  from gnomon.lax._trigonometry import acos as acos
  from gnomon.lax._trigonometry import acos_p as acos_p
  from gnomon.lax._trigonometry import acosh as acosh
  from gnomon.lax._trigonometry import acosh_p as acosh_p
  from gnomon.lax._trigonometry import asin as asin
  from gnomon.lax._trigonometry import asin_p as asin_p
  from gnomon.lax._trigonometry import asinh as asinh
  from gnomon.lax._trigonometry import asinh_p as asinh_p
  from gnomon.lax._trigonometry import atan as atan
  from gnomon.lax._trigonometry import atan2 as atan2
  from gnomon.lax._trigonometry import atan2_p as atan2_p
  from gnomon.lax._trigonometry import atan_p as atan_p
  from gnomon.lax._trigonometry import atanh as atanh
  from gnomon.lax._trigonometry import atanh_p as atanh_p
  from gnomon.lax._trigonometry import cos as cos
  from gnomon.lax._trigonometry import cos_p as cos_p
  from gnomon.lax._trigonometry import cosh as cosh
  from gnomon.lax._trigonometry import cosh_p as cosh_p
  from gnomon.lax._trigonometry import sin as sin
  from gnomon.lax._trigonometry import sin_p as sin_p
  from gnomon.lax._trigonometry import sinh as sinh
  from gnomon.lax._trigonometry import sinh_p as sinh_p
  from gnomon.lax._trigonometry import tan as tan
  from gnomon.lax._trigonometry import tan_p as tan_p
  from gnomon.lax._trigonometry import tanh as tanh
  from gnomon.lax._trigonometry import tanh_p as tanh_p

  # windows
  from gnomon.lax._windows import reduce_window as reduce_window
  from gnomon.lax._windows import reduce_window_max_p as reduce_window_max_p
  from gnomon.lax._windows import reduce_window_min_p as reduce_window_min_p
  from gnomon.lax._windows import reduce_window_p as reduce_window_p
  from gnomon.lax._windows import reduce_window_sum_p as reduce_window_sum_p
  from gnomon.lax._windows import select_and_gather_add_p as select_and_gather_add_p
  from gnomon.lax._windows import select_and_scatter_add_p as select_and_scatter_add_p
  from gnomon.lax._windows import select_and_scatter_p as select_and_scatter_p
  from gnomon.lax._windows_shape import padtype_to_pads as padtype_to_pads
  from gnomon.lax._windows_shape import (
    reduce_window_shape_tuple as reduce_window_shape_tuple,
  )
else:
  from gnomon._door import open_door as _open_door
  from gnomon.lax._names import NAMES as _NAMES

  __getattr__, __dir__, __all__ = _open_door(__name__, _NAMES)
