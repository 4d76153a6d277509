"""Where each public name lives. Written by `tools/write_doors.py`."""

NAMES = {
    "_bessel": "i0 i0e i1 i1e",
    "_error": "erf erfc erfcx erfinv log_ndtr ndtr ndtri",
    "_gamma": (
        "beta betainc betaln comb digamma factorial gamma gammainc gammaincc gammaln "
        "gammasgn loggamma multigammaln poch polygamma zeta"),
    "_logarithms": "boxcox boxcox1p entr expit kl_div logit rel_entr xlog1py xlogy",
    "_softmax": "log_softmax softmax",
    "gnomon.nn": "logsumexp",
}
