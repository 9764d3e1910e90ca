#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace transformer {

// Where the processes of one data parallel training, its ranks, find each other.
struct Rendezvous {
  int64_t rank = 0;        // of this process, from 0
  int64_t ranks = 1;       // in all
  int64_t local_rank = 0;  // among those on this machine: which of its GPUs is this one's
  std::string address{};   // of rank 0
  int64_t port = 0;
  bool served = false;  // by torchrun there, else by rank 0
  // torchrun's count of restarts: what was said before one is not heard again.
  std::string attempt{};
};

// From the variables that torchrun sets: RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT.
// Where MASTER_ADDR is set and RANK is not, srun's SLURM_PROCID, SLURM_NTASKS and SLURM_LOCALID
// stand for the first three. None where there is one process. Throws UserError naming the variable
// that is missing or cannot be.
std::optional<Rendezvous> rendezvous_of_environment();

}  // namespace transformer
