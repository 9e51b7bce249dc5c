"""What holds for every test."""

import signal

# A shell starts what it puts in the background deaf to Ctrl-C; the tests that send one are to run there, too.
signal.signal(signal.SIGINT, signal.default_int_handler)
