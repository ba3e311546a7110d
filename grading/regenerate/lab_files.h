#pragma once

#include <string>

// What a lab's program says of itself, in the files that are kept in the lab's folder.
namespace lab::grading {

/// expected_log.txt as it should be: of the runs that the headings of `present` name, "run COMMAND OPTIONS", which an
/// author writes; without any, of the run without options. The program may leave a folder out/ in `scratch`.
/// Errors    UsageError: the program fails
std::string expected_log(const std::string& program, const std::string& present, const std::string& scratch);

/// reference_figures.json as it should be: what the reference costs on 4 ranks, with which `lab check --score` compares.
/// Errors    UsageError: the program fails, as where the reference is wrong
std::string reference_figures(const std::string& program, const std::string& scratch);

/// How figures differ from those recorded; empty: they do not. Figures of the same cases are alike if bytes are equal,
/// model time and operations within 1 % (LibTorch versions do some operators in another way), and peak memory at most a
/// quarter more, and at least a quarter of it: workspaces of convolutions depend on the processor, and one without
/// AVX-512 has none, so that a small case's peak is a third of what another records. `other_libtorch`: another than they
/// were recorded with, which may do 16 operations more and have a workspace of 64 KiB more.
std::string differing_figures(const std::string& recorded, const std::string& now, bool other_libtorch);

}  // namespace lab::grading
