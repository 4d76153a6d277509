"""Sparse arrays: their operations, and functions of dense arrays applied to them."""

from __future__ import annotations

from gnomon.experimental.sparse._arithmetic import bcoo_dot_general as bcoo_dot_general
from gnomon.experimental.sparse._arithmetic import (
    bcoo_dot_general_sampled as bcoo_dot_general_sampled,
)
from gnomon.experimental.sparse._arithmetic import (
    bcoo_multiply_dense as bcoo_multiply_dense,
)
from gnomon.experimental.sparse._arithmetic import (
    bcoo_multiply_sparse as bcoo_multiply_sparse,
)
from gnomon.experimental.sparse._arithmetic import bcoo_reduce_sum as bcoo_reduce_sum
from gnomon.experimental.sparse._base import (
    CuSparseEfficiencyWarning as CuSparseEfficiencyWarning,
)
from gnomon.experimental.sparse._base import JAXSparse as JAXSparse
from gnomon.experimental.sparse._base import (
    SparseEfficiencyError as SparseEfficiencyError,
)
from gnomon.experimental.sparse._base import (
    SparseEfficiencyWarning as SparseEfficiencyWarning,
)
from gnomon.experimental.sparse._bcoo import BCOO as BCOO
from gnomon.experimental.sparse._bcoo import bcoo_extract as bcoo_extract
from gnomon.experimental.sparse._bcoo import bcoo_fromdense as bcoo_fromdense
from gnomon.experimental.sparse._bcoo import bcoo_todense as bcoo_todense
from gnomon.experimental.sparse._layout import bcoo_sort_indices as bcoo_sort_indices
from gnomon.experimental.sparse._layout import bcoo_sum_duplicates as bcoo_sum_duplicates
from gnomon.experimental.sparse._layout import bcoo_update_layout as bcoo_update_layout
from gnomon.experimental.sparse._operators import empty as empty
from gnomon.experimental.sparse._operators import eye as eye
from gnomon.experimental.sparse._operators import provide as _provide
from gnomon.experimental.sparse._operators import random_bcoo as random_bcoo
from gnomon.experimental.sparse._operators import todense as todense
from gnomon.experimental.sparse._shapes import (
    bcoo_broadcast_in_dim as bcoo_broadcast_in_dim,
)
from gnomon.experimental.sparse._shapes import bcoo_concatenate as bcoo_concatenate
from gnomon.experimental.sparse._shapes import bcoo_dynamic_slice as bcoo_dynamic_slice
from gnomon.experimental.sparse._shapes import bcoo_reshape as bcoo_reshape
from gnomon.experimental.sparse._shapes import bcoo_rev as bcoo_rev
from gnomon.experimental.sparse._shapes import bcoo_slice as bcoo_slice
from gnomon.experimental.sparse._shapes import bcoo_squeeze as bcoo_squeeze
from gnomon.experimental.sparse._shapes import bcoo_transpose as bcoo_transpose
from gnomon.experimental.sparse._sparsify import sparsify as sparsify
from gnomon.experimental.sparse._transforms import grad as grad
from gnomon.experimental.sparse._transforms import value_and_grad as value_and_grad

_provide()
