#pragma once

#include <filesystem>
#include <functional>
#include <ostream>
#include <string>

namespace transformer {

// The whole file as bytes. Throws UserError where it is missing or cannot be read.
std::string read_file(const std::filesystem::path& path);

// Writes through `write` into a file beside `path`, syncs it and renames it over `path`. A failure
// (full disk, read-only folder) throws Failure with the system's reason and leaves what was there.
void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write);
void write_file(const std::filesystem::path& path, const std::string& bytes);

// Makes a rename or a removal inside `folder` durable. Throws Failure.
void sync_folder(const std::filesystem::path& folder);

// Creates the folder and its parents. Throws Failure with the system's reason.
void make_folder(const std::filesystem::path& folder);

}  // namespace transformer
