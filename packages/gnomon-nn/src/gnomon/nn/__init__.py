"""Functions of neural networks: activations, softmax, attention, initializers."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
  from gnomon.nn import initializers as initializers
  from gnomon.nn._attention import dot_product_attention as dot_product_attention
  from gnomon.nn._block_scaled import (
    get_scaled_dot_general_config as get_scaled_dot_general_config,
  )
  from gnomon.nn._block_scaled import scaled_dot_general as scaled_dot_general
  from gnomon.nn._block_scaled import scaled_matmul as scaled_matmul
  from gnomon.nn._normalization import log_softmax as log_softmax
  from gnomon.nn._normalization import logmeanexp as logmeanexp
  from gnomon.nn._normalization import logsumexp as logsumexp
  from gnomon.nn._normalization import softmax as softmax
  from gnomon.nn._normalization import standardize as standardize
  from gnomon.nn._one_hot import one_hot as one_hot
  from gnomon.nn._rectifiers import celu as celu
  from gnomon.nn._rectifiers import elu as elu
  from gnomon.nn._rectifiers import hard_sigmoid as hard_sigmoid
  from gnomon.nn._rectifiers import hard_silu as hard_silu
  from gnomon.nn._rectifiers import hard_swish as hard_swish
  from gnomon.nn._rectifiers import hard_tanh as hard_tanh
  from gnomon.nn._rectifiers import leaky_relu as leaky_relu
  from gnomon.nn._rectifiers import relu as relu
  from gnomon.nn._rectifiers import relu6 as relu6
  from gnomon.nn._rectifiers import selu as selu
  from gnomon.nn._rectifiers import sparse_plus as sparse_plus
  from gnomon.nn._rectifiers import sparse_sigmoid as sparse_sigmoid
  from gnomon.nn._smooth import gelu as gelu
  from gnomon.nn._smooth import glu as glu
  from gnomon.nn._smooth import identity as identity
  from gnomon.nn._smooth import log1mexp as log1mexp
  from gnomon.nn._smooth import log_sigmoid as log_sigmoid
  from gnomon.nn._smooth import mish as mish
  from gnomon.nn._smooth import sigmoid as sigmoid
  from gnomon.nn._smooth import silu as silu
  from gnomon.nn._smooth import soft_sign as soft_sign
  from gnomon.nn._smooth import softplus as softplus
  from gnomon.nn._smooth import squareplus as squareplus
  from gnomon.nn._smooth import swish as swish
  from gnomon.numpy import tanh as tanh
else:
  from gnomon._door import open_door as _open_door
  from gnomon.nn._names import NAMES as _NAMES

  __getattr__, __dir__, __all__ = _open_door(__name__, _NAMES)
