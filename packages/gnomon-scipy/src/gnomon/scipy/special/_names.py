"""Where each public name lives. Written by `tools/write_doors.py`."""

NAMES = {
    "_bernoulli": "bernoulli",
    "_bessel": "bessel_jn i0 i0e i1 i1e",
    "_error": "erf erfc erfcx erfinv log_ndtr ndtr ndtri",
    "_exponential": "exp1 expi expn",
    "_faddeeva": "wofz",
    "_gamma": (
        "beta betainc betaln comb digamma factorial gamma gammainc gammaincc gammaln "
        "gammasgn loggamma multigammaln poch polygamma zeta"),
    "_harmonics": "sph_harm_y",
    "_hypergeometric": "hyp1f1 hyp2f1",
    "_integrals": "dawsn fresnel sici spence",
    "_logarithms": "boxcox boxcox1p entr expit kl_div logit rel_entr xlog1py xlogy",
    "_owens": "owens_t",
    "_softmax": "log_softmax softmax",
    "gnomon.nn": "logsumexp",
}
