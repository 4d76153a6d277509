"""Where each public name lives. Written by `tools/write_doors.py`."""

NAMES = {
    "": "linalg",
    "_accuracy": "AccuracyMode Tolerance",
    "_all_gather": "all_gather all_gather_p psum_scatter",
    "_all_to_all": (
        "all_to_all all_to_all_p pswapaxes ragged_all_to_all ragged_all_to_all_p"),
    "_approx": "approx_max_k approx_min_k approx_top_k_p",
    "_arithmetic": (
        "add add_p clamp clamp_p div div_p integer_pow integer_pow_p max max_p min "
        "min_p mul mul_p neg neg_p reciprocal rem rem_p square square_p sub sub_p"),
    "_barrier": "optimization_barrier optimization_barrier_p",
    "_bitwise": (
        "and_p bitwise_and bitwise_not bitwise_or bitwise_xor clz clz_p mulhi mulhi_p "
        "not_p or_p population_count population_count_p shift_left shift_left_p "
        "shift_right_arithmetic shift_right_arithmetic_p shift_right_logical "
        "shift_right_logical_p xor_p"),
    "_collectives": (
        "axis_index axis_index_p axis_size pmax pmax_p pmean pmin pmin_p psum psum_p"),
    "_comparison": (
        "eq eq_p eq_to_p ge ge_p gt gt_p le le_p le_to_p lt lt_p lt_to_p ne ne_p"),
    "_complex": (
        "abs abs_p complex complex_p conj conj_p imag imag_p real sign sign_p"),
    "_composite": "composite",
    "_control.associative_scan": "associative_scan",
    "_control.cond": "cond cond_p switch",
    "_control.custom_linear_solve": "custom_linear_solve linear_solve_p",
    "_control.custom_root": "custom_root",
    "_control.map": "map",
    "_control.platform": "platform_dependent",
    "_control.reversible": "reversible_fori_loop reversible_while_loop",
    "_control.scan": "scan scan_p",
    "_control.while_": "fori_loop while_loop while_p",
    "_conversion": "bitcast_convert_type bitcast_convert_type_p",
    "_convolution": (
        "conv conv_general_dilated conv_general_dilated_p conv_with_general_padding"),
    "_convolution_forms": (
        "conv_general_dilated_local conv_general_dilated_patches conv_transpose"),
    "_convolution_numbers": (
        "ConvDimensionNumbers ConvGeneralDilatedDimensionNumbers conv_dimension_numbers "
        "conv_general_permutations conv_general_shape_tuple conv_shape_tuple "
        "conv_transpose_shape_tuple"),
    "_creation": "broadcasted_iota dtype empty empty_p full full_like iota iota_p",
    "_cumulative": (
        "cumlogsumexp cumlogsumexp_p cummax cummax_p cummin cummin_p cumprod cumprod_p "
        "cumsum cumsum_p"),
    "_dot": "DotDimensionNumbers batch_matmul dot dot_general dot_general_p",
    "_dynamic": (
        "dynamic_index_in_dim dynamic_slice dynamic_slice_in_dim dynamic_slice_p "
        "dynamic_update_index_in_dim dynamic_update_slice dynamic_update_slice_in_dim "
        "dynamic_update_slice_p"),
    "_exponential": (
        "exp exp2 exp2_p exp_p expm1 expm1_p log log1p log1p_p log_p logistic "
        "logistic_p"),
    "_fft": "FftType fft fft_p",
    "_gather": "gather index_take",
    "_incomplete": (
        "betainc igamma igamma_grad_a igamma_grad_a_p igamma_p igammac igammac_p "
        "random_gamma_grad regularized_incomplete_beta_p"),
    "_indexing": (
        "GatherDimensionNumbers GatherScatterMode ScatterDimensionNumbers gather_p "
        "scatter_add_p scatter_p"),
    "_permute": "pbroadcast pcast ppermute ppermute_p pshuffle",
    "_power": "cbrt cbrt_p pow pow_p rsqrt rsqrt_p sqrt sqrt_p",
    "_precision": "DotAlgorithm DotAlgorithmPreset Precision PrecisionLike",
    "_ragged": "RaggedDotDimensionNumbers ragged_dot ragged_dot_general",
    "_reduce": "reduce reduce_p",
    "_reduction": (
        "argmax argmax_p argmin argmin_p reduce_and reduce_and_p reduce_max "
        "reduce_max_p reduce_min reduce_min_p reduce_or reduce_or_p reduce_prod "
        "reduce_prod_p reduce_xor reduce_xor_p"),
    "_rng": (
        "RandomAlgorithm rng_bit_generator rng_bit_generator_p rng_uniform "
        "rng_uniform_p threefry2x32_p"),
    "_rounding": (
        "RoundingMethod ceil ceil_p floor floor_p is_finite is_finite_p nextafter "
        "nextafter_p reduce_precision reduce_precision_p round round_p"),
    "_scaled_dot": "scaled_dot",
    "_scatter": (
        "scatter scatter_add scatter_apply scatter_max scatter_max_p scatter_min "
        "scatter_min_p scatter_mul scatter_mul_p scatter_sub scatter_sub_p"),
    "_shape": (
        "broadcast broadcast_shapes broadcast_to_rank collapse concatenate "
        "concatenate_p expand_dims pad pad_p rev rev_p split split_p tile tile_p"),
    "_slicing": "index_in_dim slice slice_in_dim",
    "_sort": "sort sort_key_val sort_p top_k top_k_p",
    "_special": (
        "bessel_i0e bessel_i0e_p bessel_i1e bessel_i1e_p digamma digamma_p erf erf_inv "
        "erf_inv_p erf_p erfc erfc_p lgamma lgamma_p polygamma polygamma_p zeta zeta_p"),
    "_stack": "broadcast_like select shape_as_value stack stack_p unstack unstack_p",
    "_staging": "dce_sink dce_sink_p stage stage_p",
    "_tokens": "after_all after_all_p create_token create_token_p precv psend",
    "_trigonometry": (
        "acos acos_p acosh acosh_p asin asin_p asinh asinh_p atan atan2 atan2_p atan_p "
        "atanh atanh_p cos cos_p cosh cosh_p sin sin_p sinh sinh_p tan tan_p tanh "
        "tanh_p"),
    "_windows": (
        "reduce_window reduce_window_max_p reduce_window_min_p reduce_window_p "
        "reduce_window_sum_p select_and_gather_add_p select_and_scatter_add_p "
        "select_and_scatter_p"),
    "_windows_shape": "padtype_to_pads reduce_window_shape_tuple",
    "gnomon.api.constraint": "sharding_constraint_p with_sharding_constraint",
    "gnomon.api.device": "device_put_p",
    "gnomon.api.stopping": "stop_gradient stop_gradient_p",
    "gnomon.core.derive": (
        "add_any_p broadcast_in_dim_p reduce_sum_p slice_p transpose_p"),
    "gnomon.core.structural": (
        "broadcast_in_dim convert_element_type convert_element_type_p copy_p real_p "
        "reduce_sum reshape reshape_p select_n select_n_p squeeze squeeze_p transpose"),
}
