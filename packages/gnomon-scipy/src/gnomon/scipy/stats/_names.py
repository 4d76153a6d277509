"""Where each public name lives. Written by `tools/write_doors.py`."""

NAMES = {
    "": (
        "bernoulli beta betabinom binom cauchy chi2 expon gamma gennorm geom gumbel_l "
        "gumbel_r laplace logistic nbinom norm pareto poisson t truncnorm uniform "
        "vonmises wrapcauchy"),
}
