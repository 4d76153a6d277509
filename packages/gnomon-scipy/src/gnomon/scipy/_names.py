"""Where each public name lives. Written by `tools/write_doors.py`."""

NAMES = {
    "": (
        "cluster fft integrate interpolate linalg ndimage optimize signal sparse "
        "spatial special stats"),
}
