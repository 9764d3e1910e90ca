#pragma once

#include <string>

#include "transformer/train/rendezvous.h"

namespace transformer {

// The address at which the other ranks reach this machine: that from which it would send to rank
// 0's. (What a machine calls itself may stand for 127.0.1.1 in its own list of names.) In digits.
// Throws UserError where nothing is known by the name in MASTER_ADDR, and Failure where no network
// leads there.
std::string own_address(const Rendezvous& place);

// Whether an address is this machine's alone.
bool is_loopback(const std::string& address);

}  // namespace transformer
