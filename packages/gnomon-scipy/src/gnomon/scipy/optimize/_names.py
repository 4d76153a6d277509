"""Where each public name lives. Written by `tools/write_doors.py`."""

NAMES = {
    "_minimize": "OptimizeResults minimize",
}
