"""Where each public name lives. Written by `tools/write_doors.py`."""

NAMES = {
    "_convolution": "convolve convolve2d correlate correlate2d fftconvolve",
    "_detrend": "detrend",
    "_inverse": "istft",
    "_spectra": "csd stft welch",
}
