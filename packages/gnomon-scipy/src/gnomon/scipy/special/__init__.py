"""Special functions: `scipy.special`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
  from gnomon.nn import logsumexp as logsumexp
  from gnomon.scipy.special._bernoulli import bernoulli as bernoulli
  from gnomon.scipy.special._bessel import bessel_jn as bessel_jn
  from gnomon.scipy.special._bessel import i0 as i0
  from gnomon.scipy.special._bessel import i0e as i0e
  from gnomon.scipy.special._bessel import i1 as i1
  from gnomon.scipy.special._bessel import i1e as i1e
  from gnomon.scipy.special._error import erf as erf
  from gnomon.scipy.special._error import erfc as erfc
  from gnomon.scipy.special._error import erfcx as erfcx
  from gnomon.scipy.special._error import erfinv as erfinv
  from gnomon.scipy.special._error import log_ndtr as log_ndtr
  from gnomon.scipy.special._error import ndtr as ndtr
  from gnomon.scipy.special._error import ndtri as ndtri
  from gnomon.scipy.special._exponential import exp1 as exp1
  from gnomon.scipy.special._exponential import expi as expi
  from gnomon.scipy.special._exponential import expn as expn
  from gnomon.scipy.special._faddeeva import wofz as wofz
  from gnomon.scipy.special._gamma import beta as beta
  from gnomon.scipy.special._gamma import betainc as betainc
  from gnomon.scipy.special._gamma import betaln as betaln
  from gnomon.scipy.special._gamma import comb as comb
  from gnomon.scipy.special._gamma import digamma as digamma
  from gnomon.scipy.special._gamma import factorial as factorial
  from gnomon.scipy.special._gamma import gamma as gamma
  from gnomon.scipy.special._gamma import gammainc as gammainc
  from gnomon.scipy.special._gamma import gammaincc as gammaincc
  from gnomon.scipy.special._gamma import gammaln as gammaln
  from gnomon.scipy.special._gamma import gammasgn as gammasgn
  from gnomon.scipy.special._gamma import loggamma as loggamma
  from gnomon.scipy.special._gamma import multigammaln as multigammaln
  from gnomon.scipy.special._gamma import poch as poch
  from gnomon.scipy.special._gamma import polygamma as polygamma
  from gnomon.scipy.special._gamma import zeta as zeta
  from gnomon.scipy.special._harmonics import sph_harm_y as sph_harm_y
  from gnomon.scipy.special._hypergeometric import hyp1f1 as hyp1f1
  from gnomon.scipy.special._hypergeometric import hyp2f1 as hyp2f1
  from gnomon.scipy.special._integrals import dawsn as dawsn
  from gnomon.scipy.special._integrals import fresnel as fresnel
  from gnomon.scipy.special._integrals import sici as sici
  from gnomon.scipy.special._integrals import spence as spence
  from gnomon.scipy.special._logarithms import boxcox as boxcox
  from gnomon.scipy.special._logarithms import boxcox1p as boxcox1p
  from gnomon.scipy.special._logarithms import entr as entr
  from gnomon.scipy.special._logarithms import expit as expit
  from gnomon.scipy.special._logarithms import kl_div as kl_div
  from gnomon.scipy.special._logarithms import logit as logit
  from gnomon.scipy.special._logarithms import rel_entr as rel_entr
  from gnomon.scipy.special._logarithms import xlog1py as xlog1py
  from gnomon.scipy.special._logarithms import xlogy as xlogy
  from gnomon.scipy.special._owens import owens_t as owens_t
  from gnomon.scipy.special._softmax import log_softmax as log_softmax
  from gnomon.scipy.special._softmax import softmax as softmax
else:
  from gnomon._door import open_door as _open_door
  from gnomon.scipy.special._names import NAMES as _NAMES

  __getattr__, __dir__, __all__ = _open_door(__name__, _NAMES)
