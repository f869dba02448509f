"""What disturbs a command, and what is known of it."""

import errno
import signal

WRITE, SYNC, RENAME, OPEN, REMOVE, CLOSE, READ, MKDIR = (1 << i for i in range(8))
CHANGES = WRITE | SYNC | RENAME | OPEN | REMOVE | CLOSE | MKDIR
FAULTS = {  # calls, signal, error, whether later calls fail, too
    "SIGKILL": (CHANGES, signal.SIGKILL, 0, 0),
    "SIGTERM": (CHANGES | READ, signal.SIGTERM, 0, 0),
    "SIGINT": (CHANGES | READ, signal.SIGINT, 0, 0),
    "ENOSPC": (WRITE | OPEN | MKDIR, 0, errno.ENOSPC, 1),
    "EIO-write": (WRITE | SYNC | CLOSE | RENAME, 0, errno.EIO, 0),
    "EIO-read": (READ, 0, errno.EIO, 0),
    "EACCES": (OPEN | MKDIR | RENAME, 0, errno.EACCES, 1),
    "EROFS": (WRITE | OPEN | MKDIR | RENAME | REMOVE, 0, errno.EROFS, 1),
    "files": (0, 0, 0, 0),  # RLIMIT_NOFILE
    "file-size": (0, 0, 0, 0),  # RLIMIT_FSIZE
    "memory": (0, 0, 0, 0),  # RLIMIT_AS
    "clock": (0, 0, 0, 0),  # goes backwards
    "two-writers": (0, 0, 0, 0),  # at the same time
    "full-disk": (0, 0, 0, 0),  # a tmpfs of some pages; only root can mount it
}
STOPPED = {"SIGTERM": {143, -15}, "SIGINT": {130}, "SIGKILL": {-9}}
UNCLEAN = {"SIGKILL", "EROFS"}  # nothing can be removed afterwards
COSTS = ("cost.json", "fits.tsv")  # with CPU seconds, which vary
