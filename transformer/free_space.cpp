#include "transformer/free_space.h"

#include <sys/statvfs.h>

#include <cstdio>
#include <string>

#include "transformer/error.h"

namespace transformer {

namespace {

std::string mebibytes(double bytes) {
  char text[48];
  std::snprintf(text, sizeof text, "%.1f MiB", bytes / (1 << 20));
  return text;
}

}  // namespace

void expect_free_space(const std::filesystem::path& folder, int64_t bytes,
                       const std::string& what) {
  struct statvfs system {};
  if (statvfs(folder.c_str(), &system) != 0 || system.f_blocks == 0) return;  // it does not say
  const double there = static_cast<double>(system.f_bavail) * static_cast<double>(system.f_frsize);
  const auto needed = static_cast<double>(bytes);
  if (needed <= there) return;
  throw Failure(folder.string() + ": " + what + " need " + mebibytes(needed) +
                ", but the disk has " + mebibytes(there) +
                " free; make room, or take another folder");
}

}  // namespace transformer
