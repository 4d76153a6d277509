"""Where each public name lives. Written by `tools/write_doors.py`."""

NAMES = {
    "": "interpolate linalg ndimage optimize signal sparse special stats",
}
