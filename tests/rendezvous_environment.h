#pragma once

#include <cstdlib>
#include <map>
#include <string>

inline constexpr const char* kRendezvousVariables[] = {"RANK",
                                                       "WORLD_SIZE",
                                                       "LOCAL_RANK",
                                                       "MASTER_ADDR",
                                                       "MASTER_PORT",
                                                       "SLURM_PROCID",
                                                       "SLURM_NTASKS",
                                                       "SLURM_LOCALID",
                                                       "TORCHELASTIC_USE_AGENT_STORE",
                                                       "TORCHELASTIC_RESTART_COUNT"};

// These variables alone, until it goes.
class RendezvousEnvironment {
 public:
  explicit RendezvousEnvironment(const std::map<std::string, std::string>& values) {
    for (const char* name : kRendezvousVariables) {
      if (const char* before = std::getenv(name)) before_[name] = before;
      unsetenv(name);
    }
    for (const auto& [name, value] : values) setenv(name.c_str(), value.c_str(), 1);
  }
  ~RendezvousEnvironment() {
    for (const char* name : kRendezvousVariables) unsetenv(name);
    for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  std::map<std::string, std::string> before_;
};
