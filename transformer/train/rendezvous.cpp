#include "transformer/train/rendezvous.h"

#include <charconv>
#include <cstdlib>

#include "transformer/error.h"
#include "transformer/fields.h"

namespace transformer {

namespace {

constexpr int64_t kMostRanks = 1 << 20;
constexpr int64_t kMostPorts = 65535;

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

int64_t number_in(const char* name, int64_t least, int64_t most) {
  const auto text = variable(name);
  if (!text) {
    throw UserError(std::string(name) +
                    ": is not set; data parallel training is started by torchrun, or with RANK, "
                    "WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT set for each process");
  }
  int64_t value = 0;
  const char* last = text->data() + text->size();
  const auto [end, error] = std::from_chars(text->data(), last, value);
  if (error != std::errc() || end != last || value < least || value > most) {
    throw UserError(std::string(name) + ": expected a number in " + std::to_string(least) + ".." +
                    std::to_string(most) + "; got " + fields::shown_name(*text));
  }
  return value;
}

}  // namespace

std::optional<Rendezvous> rendezvous_of_environment() {
  const bool by_slurm = !variable("RANK") && variable("MASTER_ADDR") && variable("SLURM_PROCID");
  if (!by_slurm && !variable("RANK") && !variable("WORLD_SIZE")) return std::nullopt;
  Rendezvous place;
  place.ranks = number_in(by_slurm ? "SLURM_NTASKS" : "WORLD_SIZE", 1, kMostRanks);
  if (place.ranks == 1) return std::nullopt;
  place.rank = number_in(by_slurm ? "SLURM_PROCID" : "RANK", 0, place.ranks - 1);
  const char* local = by_slurm ? "SLURM_LOCALID" : "LOCAL_RANK";
  if (variable(local)) place.local_rank = number_in(local, 0, place.ranks - 1);
  const auto address = variable("MASTER_ADDR");
  if (!address) throw UserError("MASTER_ADDR: is not set; expected the address of rank 0");
  place.address = *address;
  place.port = number_in("MASTER_PORT", 1, kMostPorts);
  place.served = variable("TORCHELASTIC_USE_AGENT_STORE") == "True";
  place.attempt = variable("TORCHELASTIC_RESTART_COUNT").value_or("0");
  return place;
}

}  // namespace transformer
