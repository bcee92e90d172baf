# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""What a command of a test is started through."""

# setpriv itself keeps capabilities until it becomes another program: with them a file is readable, and its process dumpable.
NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "env"]

# Other JVMs leave their sockets and libraries in the /tmp that all share.
OWN_TMP = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o mode=1777 tmpfs /tmp && exec "$@"', "sh"]
