#!/usr/bin/env bash
# Traces of every lab, in every world of its program, are opened by speedscope's importer, of a pinned release from npm:
# it gets each slice that was written, as long as it was, and has nothing to say.
source "$(dirname -- "$(readlink -f -- "$0")")/../program_checks.sh"
here=$(dirname -- "$(readlink -f -- "$0")")
for program in node npm; do
  command -v "$program" >/dev/null || { skip "$program is not installed"; exit 77; }
done
run npm pack --silent --pack-destination "$scratch" speedscope@1.25.0
[[ $code == 0 ]] || { skip "npm cannot download speedscope: $(tail -n 1 "$scratch/err")"; exit 77; }
tar -xzf "$scratch/speedscope-1.25.0.tgz" -C "$scratch"

opens() { run node "$here/speedscope.mjs" "$scratch"/package/dist/release/speedscope-*.js "$@"; }

small=(--train-images 64 --test-images 33 --epochs 1 --batch-size 32)
for lab in a4_data_tensor a5_pipeline a9_collectives vae_sequence_parallel optC_model_parallel; do
  options=()
  [[ $lab != optC_model_parallel ]] || options=("${small[@]}")
  for world in threads "processes --transport gloo" "processes --transport shm" sim; do
    run "$bin/$lab" --nproc 4 --world $world "${options[@]}" --quiet --out "$scratch/$lab" --trace "$scratch/$lab.json"
    if [[ $code == 2 && $world == sim ]] && grep -q SimGrid "$scratch/err"; then continue; fi
    [[ $code == 0 ]] || { verdict 1 "$lab, --world $world: exit code $code"; continue; }
    opens "$scratch/$lab.json"
    verdict "$code" "$lab, --world $world: $(<"$scratch/out")"
  done
done

# The importer sees what crosses.
echo '{"traceEvents": [{"ph": "X", "pid": 1, "tid": 1, "name": "a", "ts": 0, "dur": 2},
  {"ph": "X", "pid": 1, "tid": 1, "name": "b", "ts": 1, "dur": 2}]}' >"$scratch/crossing.json"
opens "$scratch/crossing.json"
verdict "$([[ $code == 1 ]]; echo $?)" "found: $(<"$scratch/out")"
finish
