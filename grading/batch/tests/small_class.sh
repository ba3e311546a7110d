# Sourced by the tests that grade a class of A4 on one number of ranks. Needs LAB_SOURCE_DIR, and the labs' programs in
# LAB_BIN_DIR. How a class is graded: "$bin/labgrade" grade-all "$class" --out "$out" --seed 5 "${how[@]}"
source "$LAB_SOURCE_DIR/common/testing/program_checks.sh"
root=$LAB_SOURCE_DIR build=${LAB_BIN_DIR%/bin}
class=$scratch/class out=$scratch/results
mkdir -p "$class"
printf 'lab = "a4_data_tensor"\n[judging]\nranks = [3]\ncheap_ranks = []\n' >"$scratch/one_size.toml"
how=(--source "$root" --build "$build" --rubric "$scratch/one_size.toml")

# hand_in FILE [SED_SCRIPT]: the reference, with every line of single_step.cpp edited, as an archive in the class.
hand_in() {
  rm -rf "$scratch/hw" && mkdir -p "$scratch/hw/a4_data_tensor"
  cp -r "$root/a4_data_tensor/student" "$scratch/hw/a4_data_tensor/"
  [[ $# == 1 ]] || sed -i "$2" "$scratch/hw/a4_data_tensor/student/single_step.cpp"
  tar -C "$scratch/hw" -czf "$class/$1" a4_data_tensor
}

# show_results FOLDER: what was found about each student, without durations.
show_results() {
  (cd "$1" && for file in */*/results.json */*/report.md */*/outcome.json; do
    echo "$file"
    sed -E 's/^ *"(seconds|execution_time)":.*//; s/^- seconds: .*//' "$file"
  done)
}
