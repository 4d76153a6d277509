"""The NumPy API, on arrays that can be transformed."""

# elementwise functions
from gnomon.numpy._arithmetic import abs as abs
from gnomon.numpy._arithmetic import absolute as absolute
from gnomon.numpy._arithmetic import add as add
from gnomon.numpy._arithmetic import divide as divide
from gnomon.numpy._arithmetic import divmod as divmod
from gnomon.numpy._arithmetic import fabs as fabs
from gnomon.numpy._arithmetic import floor_divide as floor_divide
from gnomon.numpy._arithmetic import fmod as fmod
from gnomon.numpy._arithmetic import mod as mod
from gnomon.numpy._arithmetic import multiply as multiply
from gnomon.numpy._arithmetic import negative as negative
from gnomon.numpy._arithmetic import positive as positive
from gnomon.numpy._arithmetic import reciprocal as reciprocal
from gnomon.numpy._arithmetic import remainder as remainder
from gnomon.numpy._arithmetic import sign as sign
from gnomon.numpy._arithmetic import subtract as subtract
from gnomon.numpy._arithmetic import true_divide as true_divide
from gnomon.numpy._bitwise import bitwise_and as bitwise_and
from gnomon.numpy._bitwise import bitwise_count as bitwise_count
from gnomon.numpy._bitwise import bitwise_invert as bitwise_invert
from gnomon.numpy._bitwise import bitwise_left_shift as bitwise_left_shift
from gnomon.numpy._bitwise import bitwise_not as bitwise_not
from gnomon.numpy._bitwise import bitwise_or as bitwise_or
from gnomon.numpy._bitwise import bitwise_right_shift as bitwise_right_shift
from gnomon.numpy._bitwise import bitwise_xor as bitwise_xor
from gnomon.numpy._bitwise import invert as invert
from gnomon.numpy._bitwise import left_shift as left_shift
from gnomon.numpy._bitwise import logical_and as logical_and
from gnomon.numpy._bitwise import logical_not as logical_not
from gnomon.numpy._bitwise import logical_or as logical_or
from gnomon.numpy._bitwise import logical_xor as logical_xor
from gnomon.numpy._bitwise import right_shift as right_shift
from gnomon.numpy._comparison import equal as equal
from gnomon.numpy._comparison import fmax as fmax
from gnomon.numpy._comparison import fmin as fmin
from gnomon.numpy._comparison import greater as greater
from gnomon.numpy._comparison import greater_equal as greater_equal
from gnomon.numpy._comparison import less as less
from gnomon.numpy._comparison import less_equal as less_equal
from gnomon.numpy._comparison import maximum as maximum
from gnomon.numpy._comparison import minimum as minimum
from gnomon.numpy._comparison import not_equal as not_equal
from gnomon.numpy._power import cbrt as cbrt
from gnomon.numpy._power import float_power as float_power
from gnomon.numpy._power import pow as pow
from gnomon.numpy._power import power as power
from gnomon.numpy._power import sqrt as sqrt
from gnomon.numpy._power import square as square
from gnomon.numpy._rounding import around as around
from gnomon.numpy._rounding import ceil as ceil
from gnomon.numpy._rounding import floor as floor
from gnomon.numpy._rounding import rint as rint
from gnomon.numpy._rounding import round as round
from gnomon.numpy._rounding import trunc as trunc

# creation, conversion
from gnomon.numpy._conversion import array as array
from gnomon.numpy._conversion import asarray as asarray
from gnomon.numpy._creation import arange as arange
from gnomon.numpy._creation import empty as empty
from gnomon.numpy._creation import empty_like as empty_like
from gnomon.numpy._creation import eye as eye
from gnomon.numpy._creation import full as full
from gnomon.numpy._creation import full_like as full_like
from gnomon.numpy._creation import identity as identity
from gnomon.numpy._creation import linspace as linspace
from gnomon.numpy._creation import ones as ones
from gnomon.numpy._creation import ones_like as ones_like
from gnomon.numpy._creation import zeros as zeros
from gnomon.numpy._creation import zeros_like as zeros_like

# the operators and methods of arrays
from gnomon.core.array_hook import provide as _provide
from gnomon.numpy._methods import ATTRIBUTES as _ATTRIBUTES
from gnomon.numpy._operators import OPERATORS as _OPERATORS

_provide({**_OPERATORS, **_ATTRIBUTES})
