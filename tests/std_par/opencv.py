"""OpenCV's Python module through the plug-in that the environment names: the result is that of one thread."""
import sys

try:
    import cv2
    import numpy
except ImportError:
    sys.exit(77)

source = numpy.random.default_rng(1).integers(0, 255, (1500, 1500, 3), dtype=numpy.uint8)


def work():
    blurred = cv2.GaussianBlur(source, (15, 15), 3)
    return cv2.resize(cv2.medianBlur(blurred, 5), (777, 555), interpolation=cv2.INTER_CUBIC)


assert cv2.getNumThreads() == 3, "FILCH_NUM_THREADS=3, and OpenCV sees %d threads" % cv2.getNumThreads()
shared = work()
cv2.setNumThreads(1)
assert numpy.array_equal(shared, work()), "another result on one thread"
with open("/proc/self/maps") as maps:
    assert "libopencv_core_parallel_filch" in maps.read(), "the plug-in was not loaded"
