#!/bin/bash
# Runs a command where Python has libclang, and says elsewhere that it is skipped.
/usr/bin/python3 -c 'from clang import cindex' 2>/dev/null ||
  { echo "skipped: no libclang for Python (python3-clang-16)"; exit 77; }
exec "$@"
