#include "vae_sequence_parallel/model/config.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/api/errors.h"

namespace lab::vae {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw UsageError("autoencoder config: expected " + what);
}

/// Calls visit(name in JSON, field) for each field.
template <typename Config, typename Visit>
void visit_fields(Config& config, const Visit& visit) {
  visit("in_channels", config.in_channels);
  visit("ch", config.channels);
  visit("out_ch", config.out_channels);
  visit("ch_mult", config.channel_multipliers);
  visit("num_res_blocks", config.num_res_blocks);
  visit("z_channels", config.z_channels);
  visit("scale_factor", config.scale_factor);
  visit("shift_factor", config.shift_factor);
  visit("num_heads", config.num_heads);
}

}  // namespace

AutoEncoderConfig flux_config() {
  return {};
}

AutoEncoderConfig small_config() {
  AutoEncoderConfig config;
  config.channels = 32;
  config.channel_multipliers = {1, 2, 2, 2};
  config.num_res_blocks = 1;
  config.scale_factor = 1;
  config.shift_factor = 0;
  return config;
}

void check_config(const AutoEncoderConfig& config) {
  for (const std::int64_t size :
       {config.in_channels, config.channels, config.out_channels, config.z_channels, config.num_heads}) {
    if (size < 1 || size > 1 << 16) refuse(fmt::format("sizes from 1 to 65536, got {}", size));
  }
  if (config.num_res_blocks < 1 || config.num_res_blocks > 64)
    refuse(fmt::format("1 to 64 num_res_blocks, got {}", config.num_res_blocks));
  if (config.channel_multipliers.empty() || config.channel_multipliers.size() > 8)
    refuse(fmt::format("1 to 8 channel_multipliers, got {}", config.channel_multipliers.size()));
  for (const std::int64_t multiplier : config.channel_multipliers) {
    if (multiplier < 1 || multiplier > 1024) refuse(fmt::format("multipliers from 1 to 1024, got {}", multiplier));
  }
  if (config.channels % kNumGroups != 0)
    refuse(fmt::format("channels that the norm's {} groups divide, got {}", kNumGroups, config.channels));
  const std::int64_t lowest = config.channels_of_level(config.num_levels() - 1);
  if (lowest % config.num_heads != 0)
    refuse(fmt::format("a number of heads that divides {} channels, got {}", lowest, config.num_heads));
  if (!(config.scale_factor > 0 && config.scale_factor < 1e9) || !(std::abs(config.shift_factor) < 1e9))
    refuse(fmt::format("a scale_factor above 0 and a finite shift_factor, got {} and {}", config.scale_factor,
                       config.shift_factor));
}

std::string to_json(const AutoEncoderConfig& config) {
  nlohmann::ordered_json json;
  visit_fields(config, [&](const char* name, const auto& field) { json[name] = field; });
  return json.dump();
}

AutoEncoderConfig config_from_json(const std::string& text, const std::string& where) {
  try {
    const auto json = nlohmann::json::parse(text);
    AutoEncoderConfig config;
    visit_fields(config, [&](const char* name, auto& field) { json.at(name).get_to(field); });
    check_config(config);
    return config;
  } catch (const nlohmann::json::exception& error) {
    throw UsageError(fmt::format("'{}': invalid autoencoder config: {}", where, error.what()));
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("'{}': {}", where, error.what()));
  }
}

}  // namespace lab::vae
