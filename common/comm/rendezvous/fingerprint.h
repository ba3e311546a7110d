#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lab::comm {

/// What must be equal on every rank of a world, human-readable: "program" and "version", then the options.
using Fingerprint = std::vector<std::pair<std::string, std::string>>;

/// One "name: value" per line. Text too long to be sent is cut, with a checksum in its place.
std::string to_text(const Fingerprint& fingerprint);

/// How the ranks' fingerprints (as text, by rank) differ from the lowest rank's: "--seed: expected 42 as on rank 0, got
/// 7 on ranks 1, 3". Empty: they do not.
std::string describe_differences(const std::map<int, std::string>& texts);

/// "rank 2" or "ranks 1, 3"
std::string describe_ranks(const std::vector<int>& ranks);

}  // namespace lab::comm
