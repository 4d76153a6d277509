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
from gnomon.random._binomial import binomial as binomial
from gnomon.random._binomial import multinomial as multinomial
from gnomon.random._choices import categorical as categorical
from gnomon.random._choices import choice as choice
from gnomon.random._choices import permutation as permutation
from gnomon.random._counts import geometric as geometric
from gnomon.random._counts import poisson as poisson
from gnomon.random._gamma import gamma as gamma
from gnomon.random._gamma import loggamma as loggamma
from gnomon.random._gamma import random_gamma_p as random_gamma_p
from gnomon.random._gamma_family import ball as ball
from gnomon.random._gamma_family import beta as beta
from gnomon.random._gamma_family import chisquare as chisquare
from gnomon.random._gamma_family import dirichlet as dirichlet
from gnomon.random._gamma_family import f as f
from gnomon.random._gamma_family import generalized_normal as generalized_normal
from gnomon.random._gamma_family import t as t
from gnomon.random._inversion import cauchy as cauchy
from gnomon.random._inversion import exponential as exponential
from gnomon.random._inversion import laplace as laplace
from gnomon.random._inversion import logistic as logistic
from gnomon.random._inversion import pareto as pareto
from gnomon.random._inversion import rayleigh as rayleigh
from gnomon.random._inversion import triangular as triangular
from gnomon.random._inversion import weibull_min as weibull_min
from gnomon.random._normal import gumbel as gumbel
from gnomon.random._normal import normal as normal
from gnomon.random._normal_family import double_sided_maxwell as double_sided_maxwell
from gnomon.random._normal_family import lognormal as lognormal
from gnomon.random._normal_family import maxwell as maxwell
from gnomon.random._normal_family import multivariate_normal as multivariate_normal
from gnomon.random._normal_family import orthogonal as orthogonal
from gnomon.random._normal_family import wald as wald
from gnomon.random._signs import rademacher as rademacher
from gnomon.random._truncated import truncated_normal as truncated_normal
from gnomon.random._uniform import bernoulli as bernoulli
from gnomon.random._uniform import randint as randint
from gnomon.random._uniform import uniform as uniform

__all__ = [
    "PRNGKey", "ball", "bernoulli", "beta", "binomial", "bits", "categorical", "cauchy",
    "chisquare", "choice", "clone", "dirichlet", "double_sided_maxwell", "exponential",
    "f", "fold_in", "gamma", "generalized_normal", "geometric", "gumbel", "key",
    "key_data", "key_dtype", "key_impl", "laplace", "loggamma", "logistic", "lognormal",
    "maxwell", "multinomial", "multivariate_normal", "normal", "orthogonal", "pareto",
    "permutation", "poisson", "rademacher", "randint", "random_gamma_p", "rayleigh",
    "split", "t", "triangular", "truncated_normal", "uniform", "wald", "weibull_min",
    "wrap_key_data"]
