"""Distributions: `scipy.stats`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
  from gnomon.scipy.stats import bernoulli as bernoulli
  from gnomon.scipy.stats import beta as beta
  from gnomon.scipy.stats import betabinom as betabinom
  from gnomon.scipy.stats import binom as binom
  from gnomon.scipy.stats import cauchy as cauchy
  from gnomon.scipy.stats import chi2 as chi2
  from gnomon.scipy.stats import dirichlet as dirichlet
  from gnomon.scipy.stats import expon as expon
  from gnomon.scipy.stats import gamma as gamma
  from gnomon.scipy.stats import gennorm as gennorm
  from gnomon.scipy.stats import geom as geom
  from gnomon.scipy.stats import gumbel_l as gumbel_l
  from gnomon.scipy.stats import gumbel_r as gumbel_r
  from gnomon.scipy.stats import laplace as laplace
  from gnomon.scipy.stats import logistic as logistic
  from gnomon.scipy.stats import multinomial as multinomial
  from gnomon.scipy.stats import multivariate_normal as multivariate_normal
  from gnomon.scipy.stats import nbinom as nbinom
  from gnomon.scipy.stats import norm as norm
  from gnomon.scipy.stats import pareto as pareto
  from gnomon.scipy.stats import poisson as poisson
  from gnomon.scipy.stats import t as t
  from gnomon.scipy.stats import truncnorm as truncnorm
  from gnomon.scipy.stats import uniform as uniform
  from gnomon.scipy.stats import vonmises as vonmises
  from gnomon.scipy.stats import wrapcauchy as wrapcauchy
  from gnomon.scipy.stats._descriptive import mode as mode
  from gnomon.scipy.stats._descriptive import rankdata as rankdata
  from gnomon.scipy.stats._descriptive import sem as sem
  from gnomon.scipy.stats._kde import gaussian_kde as gaussian_kde
else:
  from gnomon._door import open_door as _open_door
  from gnomon.scipy.stats._names import NAMES as _NAMES

  __getattr__, __dir__, __all__ = _open_door(__name__, _NAMES)
