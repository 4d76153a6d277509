"""The records of `gnomon.lax`: importing this package fills `op_table`."""

from gnomon.testing.lax_table import contractions as contractions
from gnomon.testing.lax_table import elementwise as elementwise
from gnomon.testing.lax_table import indexing as indexing
from gnomon.testing.lax_table import reductions as reductions
from gnomon.testing.lax_table import shapes as shapes
from gnomon.testing.lax_table import special as special
