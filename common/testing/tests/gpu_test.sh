#!/usr/bin/env bash
# Every lab on this machine's GPU: all comparisons match, the log is the expected one, and the tensors are there. Where
# there is no GPU, or LibTorch has no CUDA: skipped.
source "$(dirname -- "$(readlink -f -- "$0")")/../program_checks.sh"
labs=(a4_data_tensor a5_pipeline a9_collectives optC_model_parallel vae_sequence_parallel)
run "$bin/a4_data_tensor" --device cuda
if [[ $code == 2 ]] && grep -q "no CUDA, or there is no GPU" "$scratch/err"; then
  skip "no GPU that this LibTorch can use"
  exit 77
fi
for lab in "${labs[@]}"; do
  start=$(date +%s%N)
  run "$bin/$lab" --device cuda --out "$scratch/$lab"
  took=$(($(date +%s%N) / 1000000 - start / 1000000))
  grep "match: False" "$scratch/out" | head -n 5
  accepts "$lab on the GPU: $(grep -c "match: True" "$scratch/out") comparisons in $took ms" "$lab" 4
  verdict "$([[ $(grep -c "initialized on .* on GPU" "$scratch/out") == 4 ]]; echo $?)" "$lab: each rank says that it uses the GPU"
done
run "$bin/a9_collectives" --device cuda --nproc 3
verdict "$code" "three ranks on one GPU"
run "$bin/a4_data_tensor" --device cuda --save "$scratch/save"
verdict "$([[ $code == 0 && -s $scratch/save/rank3.safetensors ]]; echo $?)" "--save copies tensors from the GPU"
run "$bin/optC_model_parallel" pipeline --device cuda --schedule pipedream --epochs 1 --out "$scratch/stale"
verdict "$code" "stale weights on the GPU"
run "$bin/a9_collectives" --device cuda --world threads
refuses "ranks of one process on a GPU" 2 "--device cuda: expected --world processes, got threads"
# Without gnuplot the picture is missing, which is another test's business.
run "$bin/vae_sequence_parallel" memory --device cuda --config flux --size 256 --ranks 1,2,4 --out "$scratch/memory"
cat "$scratch/out"
verdict "$(awk '/^serial/ { one = $3 } /^P = 4/ { four = $5 } END { exit !(one > 0 && four > 0 && four < one / 2) }' "$scratch/out"; echo $?)" \
  "the GPU's allocator: each of four ranks holds less than half of what one process does"
finish
