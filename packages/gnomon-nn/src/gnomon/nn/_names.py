"""Where each public name lives. Written by `tools/write_doors.py`."""

NAMES = {
    "": "initializers",
    "_attention": "dot_product_attention",
    "_block_scaled": "get_scaled_dot_general_config scaled_dot_general scaled_matmul",
    "_normalization": "log_softmax logmeanexp logsumexp softmax standardize",
    "_one_hot": "one_hot",
    "_rectifiers": (
        "celu elu hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu relu relu6 "
        "selu sparse_plus sparse_sigmoid"),
    "_smooth": (
        "gelu glu identity log1mexp log_sigmoid mish sigmoid silu soft_sign softplus "
        "squareplus swish"),
    "gnomon.numpy": "tanh",
}
