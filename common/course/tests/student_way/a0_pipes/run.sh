#!/usr/bin/env bash
# Leaves a0_pipes.log and a0_pipes.err in $OUT.
exec "$(dirname -- "$0")/../build/release/bin/a0_pipes" >"$OUT/a0_pipes.log" 2>"$OUT/a0_pipes.err"
