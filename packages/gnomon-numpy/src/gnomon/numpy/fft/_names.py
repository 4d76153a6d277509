"""Where each public name lives. Written by `tools/write_doors.py`."""

NAMES = {
    "_helpers": "fftfreq fftshift ifftshift rfftfreq",
    "_one": "fft hfft ifft ihfft irfft rfft",
    "_several": "fft2 fftn ifft2 ifftn irfft2 irfftn rfft2 rfftn",
}
