#pragma once

namespace transformer {

extern const char* const kVersion;
extern const char* const kCommit;  // of the source, "-dirty" when changed since; empty outside git

}  // namespace transformer
