"""Data types beyond NumPy's, and the promotion and canonicalisation of dtypes."""

from __future__ import annotations

from gnomon.core.promotion import result_type as result_type
from gnomon.core.promotion import scalar_type_of as scalar_type_of
from gnomon.core.scalar_types import TypePromotionError as TypePromotionError
from gnomon.core.scalar_types import bfloat16 as bfloat16
from gnomon.core.scalar_types import canonicalize_dtype as canonicalize_dtype
from gnomon.core.scalar_types import extended as extended
from gnomon.core.scalar_types import finfo as finfo
from gnomon.core.scalar_types import float0 as float0
from gnomon.core.scalar_types import iinfo as iinfo
from gnomon.core.scalar_types import issubdtype as issubdtype
from gnomon.core.scalar_types import itemsize_bits as itemsize_bits
from gnomon.core.scalar_types import prng_key as prng_key
