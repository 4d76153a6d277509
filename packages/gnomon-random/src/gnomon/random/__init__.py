"""Random numbers: keys that are passed explicitly, and functions that draw."""

from __future__ import annotations

from gnomon.random import _threefry as _threefry  # the default generator
from gnomon.random._api import PRNGKey as PRNGKey
from gnomon.random._api import bits as bits
from gnomon.random._api import clone as clone
from gnomon.random._api import fold_in as fold_in
from gnomon.random._api import key as key
from gnomon.random._api import key_data as key_data
from gnomon.random._api import key_dtype as key_dtype
from gnomon.random._api import key_impl as key_impl
from gnomon.random._api import split as split
from gnomon.random._api import wrap_key_data as wrap_key_data
from gnomon.random._choices import categorical as categorical
from gnomon.random._choices import choice as choice
from gnomon.random._choices import permutation as permutation
from gnomon.random._normal import gumbel as gumbel
from gnomon.random._normal import normal as normal
from gnomon.random._uniform import bernoulli as bernoulli
from gnomon.random._uniform import randint as randint
from gnomon.random._uniform import uniform as uniform

__all__ = [
    "PRNGKey", "bernoulli", "bits", "categorical", "choice", "clone", "fold_in", "gumbel",
    "key", "key_data", "key_dtype", "key_impl", "normal", "permutation", "randint", "split",
    "uniform", "wrap_key_data"]
