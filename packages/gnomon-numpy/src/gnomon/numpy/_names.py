"""Where each public name lives. Written by `tools/write_doors.py`."""

NAMES = {
    "": "fft linalg",
    "_arithmetic": (
        "abs absolute divide divmod fabs floor_divide fmod mod positive reciprocal "
        "remainder sign true_divide"),
    "_arranging": "flip fliplr flipud repeat resize roll rot90 tile",
    "_array_api": "__array_api_version__ __array_namespace_info__",
    "_bits": "packbits unpackbits",
    "_bitwise": (
        "bitwise_count bitwise_invert bitwise_left_shift bitwise_not "
        "bitwise_right_shift invert left_shift logical_not right_shift"),
    "_calculus": "diff ediff1d gradient trapezoid unwrap",
    "_closeness": "allclose array_equal array_equiv isclose",
    "_comparison": (
        "clip equal fmax fmin greater greater_equal less less_equal not_equal"),
    "_complex": (
        "angle conj conjugate imag iscomplex iscomplexobj isreal isrealobj isscalar "
        "real"),
    "_conversion": "array asarray",
    "_convolution": "convolve correlate",
    "_copies": "astype copy",
    "_creation": (
        "arange empty empty_like eye full full_like identity ones ones_like zeros "
        "zeros_like"),
    "_cumulative": "cumprod cumsum cumulative_prod cumulative_sum",
    "_diagonals": (
        "diag diag_indices diag_indices_from diagflat diagonal mask_indices trace tri "
        "tril tril_indices tril_indices_from triu triu_indices triu_indices_from"),
    "_dtypes": (
        "ComplexWarning bfloat16 bool=bool_ bool_ can_cast cdouble character complex128 "
        "complex64 complex_ complexfloating csingle double dtype e euler_gamma finfo "
        "flexible float16 float32 float4_e2m1fn float64 float6_e2m3fn float6_e3m2fn "
        "float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz "
        "float8_e5m2 float8_e5m2fnuz float8_e8m0fnu float_ floating generic iinfo "
        "inexact inf int1 int16 int2 int32 int4 int64 int8 int_ integer isdtype "
        "issubdtype nan newaxis number object_ pi promote_types result_type "
        "signedinteger single uint uint1 uint16 uint2 uint32 uint4 uint64 uint8 "
        "unsignedinteger"),
    "_einsum": "einsum einsum_path",
    "_exponents": "exp exp2 expm1 log log10 log1p log2",
    "_files": "from_dlpack frombuffer fromfile fromiter fromstring load save savez",
    "_floats": (
        "copysign frexp heaviside hypot i0 isfinite isinf isnan isneginf isposinf ldexp "
        "modf nan_to_num nextafter signbit spacing"),
    "_grids": (
        "fromfunction indices ix_ meshgrid ravel_multi_index unravel_index vander"),
    "_histogram": "histogram histogram2d histogram_bin_edges histogramdd",
    "_insertion": "delete insert trim_zeros",
    "_integers": "gcd lcm",
    "_interp": "interp",
    "_joining": (
        "append array_split block column_stack concat concatenate dsplit dstack hsplit "
        "hstack split stack unstack vsplit vstack"),
    "_mapping": "apply_along_axis apply_over_axes vectorize",
    "_nan": "nancumprod nancumsum nanmax nanmean nanmin nanprod nansum",
    "_padding": "pad",
    "_polynomial": (
        "poly polyadd polyder polydiv polyfit polyint polymul polysub polyval roots"),
    "_power": "cbrt float_power pow power sqrt square",
    "_printing": (
        "array_repr array_str get_printoptions iterable printoptions set_printoptions"),
    "_products": (
        "cross dot inner kron matmul matvec outer tensordot vdot vecdot vecmat"),
    "_quantile": "median nanmedian nanpercentile nanquantile percentile quantile",
    "_reductions": (
        "all amax amin any average count_nonzero max mean min prod ptp sum"),
    "_rounding": "around ceil floor rint round trunc",
    "_searching": "digitize searchsorted",
    "_selection": (
        "argwhere choose compress extract flatnonzero nonzero piecewise select where"),
    "_sets": "intersect1d isin setdiff1d setxor1d union1d",
    "_shape": (
        "atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_shapes "
        "broadcast_to expand_dims matrix_transpose moveaxis ndim permute_dims ravel "
        "reshape rollaxis shape size squeeze swapaxes transpose"),
    "_slicers": "c_ index_exp mgrid ogrid r_ s_",
    "_sorting": (
        "argmax argmin argpartition argsort lexsort nanargmax nanargmin partition sort "
        "sort_complex"),
    "_spaces": "geomspace linspace logspace",
    "_statistics": "bincount corrcoef cov",
    "_taking": "fill_diagonal place put put_along_axis take take_along_axis",
    "_trig": (
        "acos acosh arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh "
        "atan atan2 atanh cos cosh deg2rad degrees rad2deg radians sin sinc sinh tan "
        "tanh"),
    "_ufunc": "frompyfunc ufunc",
    "_ufuncs": (
        "add bitwise_and bitwise_or bitwise_xor logaddexp logaddexp2 logical_and "
        "logical_or logical_xor maximum minimum multiply negative subtract"),
    "_unique": "unique unique_all unique_counts unique_inverse unique_values",
    "_variance": "nanstd nanvar std var",
    "_windows": "bartlett blackman hamming hanning kaiser",
    "gnomon.runtime.jaxlib.arrays": "ndarray=ArrayBase",
}
