#pragma once

#include <atomic>

namespace transformer {

// From now on SIGINT and SIGTERM ask for an end after the step under way, with everything saved; a
// second one ends the process at once.
const std::atomic<bool>& stop_on_signals();

// 130 after SIGINT, 143 after SIGTERM, 0 where none came.
int exit_code_of_signal();

}  // namespace transformer
