#include "transformer/train/rendezvous.h"

#include <cstdlib>
#include <map>
#include <string>

#include "tests/catch.h"
#include "tests/rendezvous_environment.h"
#include "transformer/error.h"
#include "transformer/train/own_address.h"

using namespace transformer;
using Catch::Matchers::Contains;

namespace {

const std::map<std::string, std::string> kTorchrun = {{"RANK", "3"},
                                                      {"WORLD_SIZE", "4"},
                                                      {"LOCAL_RANK", "1"},
                                                      {"MASTER_ADDR", "node-1"},
                                                      {"MASTER_PORT", "29500"}};

std::map<std::string, std::string> torchrun_with(const std::string& name,
                                                 const std::string& value) {
  auto values = kTorchrun;
  values[name] = value;
  return values;
}

}  // namespace

TEST_CASE("rendezvous: one process is none; torchrun's and srun's variables say the same") {
  {
    const RendezvousEnvironment none({});
    REQUIRE_FALSE(rendezvous_of_environment());
  }
  {
    const RendezvousEnvironment one({{"RANK", "0"}, {"WORLD_SIZE", "1"}});
    REQUIRE_FALSE(rendezvous_of_environment());
  }
  {  // a job of Slurm's that does not ask for it
    const RendezvousEnvironment task({{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}});
    REQUIRE_FALSE(rendezvous_of_environment());
  }
  const std::map<std::string, std::string> srun = {{"SLURM_PROCID", "3"},
                                                   {"SLURM_NTASKS", "4"},
                                                   {"SLURM_LOCALID", "1"},
                                                   {"MASTER_ADDR", "node-1"},
                                                   {"MASTER_PORT", "29500"}};
  for (const auto& values : {kTorchrun, srun}) {
    const RendezvousEnvironment environment(values);
    const auto place = rendezvous_of_environment();
    REQUIRE(place);
    REQUIRE(place->rank == 3);
    REQUIRE(place->ranks == 4);
    REQUIRE(place->local_rank == 1);
    REQUIRE(place->address == "node-1");
    REQUIRE(place->port == 29500);
    REQUIRE_FALSE(place->served);
  }
  auto elastic = torchrun_with("TORCHELASTIC_USE_AGENT_STORE", "True");
  elastic["TORCHELASTIC_RESTART_COUNT"] = "2";
  const RendezvousEnvironment environment(elastic);
  REQUIRE(rendezvous_of_environment()->served);
  REQUIRE(rendezvous_of_environment()->attempt == "2");
}

TEST_CASE("rendezvous: a variable that is missing or cannot be is named") {
  const auto refused = [](const std::map<std::string, std::string>& values,
                          const std::string& message) {
    const RendezvousEnvironment environment(values);
    REQUIRE_THROWS_WITH(rendezvous_of_environment(), Contains(message));
  };
  refused(torchrun_with("RANK", "4"), "RANK: expected a number in 0..3; got 4");
  refused(torchrun_with("WORLD_SIZE", "two"), "WORLD_SIZE: expected a number");
  refused(torchrun_with("WORLD_SIZE", ""), "WORLD_SIZE: is not set");
  refused(torchrun_with("MASTER_ADDR", ""), "MASTER_ADDR: is not set");
  refused(torchrun_with("MASTER_PORT", "70000"), "MASTER_PORT: expected a number in 1..65535");
}

TEST_CASE("rendezvous: a machine's own address is that from which it reaches rank 0's") {
  const auto own = own_address({.address = "127.0.0.1", .port = 29500});
  REQUIRE(own == "127.0.0.1");
  REQUIRE(is_loopback(own));
  REQUIRE(is_loopback("127.0.1.1"));
  REQUIRE_FALSE(is_loopback("10.0.0.1"));
  REQUIRE_THROWS_WITH(own_address({.address = "no.such.machine.invalid", .port = 29500}),
                      Contains("MASTER_ADDR: no.such.machine.invalid"));
}
