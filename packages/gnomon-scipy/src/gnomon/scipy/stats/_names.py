"""Where each public name lives. Written by `tools/write_doors.py`."""

NAMES = {
    "": (
        "bernoulli beta betabinom binom cauchy chi2 dirichlet expon gamma gennorm geom "
        "gumbel_l gumbel_r laplace logistic multinomial multivariate_normal nbinom norm "
        "pareto poisson t truncnorm uniform vonmises wrapcauchy"),
    "_descriptive": "mode rankdata sem",
    "_kde": "gaussian_kde",
}
