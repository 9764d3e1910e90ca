#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace transformer {

// More than any config, result or vocabulary has.
constexpr size_t kMostBytes = size_t{256} << 20;

// The bytes of a file, or of standard input, as they come.
class InputFile {
 public:
  // Throws UserError where it is a folder or cannot be opened.
  explicit InputFile(const std::filesystem::path& path);
  static InputFile standard_input();
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // As many bytes as are there, `most` at most; waits for one. 0 at the end, and once `stop` is
  // true. Throws UserError with the system's reason, and where it is a pipe that nobody writes to.
  size_t read(char* bytes, size_t most, const std::atomic<bool>* stop = nullptr);
  bool is_waiting() const;  // whether read would wait

  const std::string& name() const { return name_; }  // as messages have it

 private:
  InputFile(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}

  int descriptor_;
  std::string name_;
  bool is_empty_ = true;  // so far
};

// The whole file as bytes. Throws UserError where it is missing or cannot be read, where it has
// more than `most` bytes, endless ones included, and where it is a pipe that nobody writes to.
std::string read_file(const std::filesystem::path& path, size_t most = kMostBytes);

// The path as messages name it.
std::string shown_path(const std::filesystem::path& path);

// Writes through `write` into a file beside `path`, syncs it and renames it over `path`. A failure
// (full disk, read-only folder) throws Failure with the system's reason and leaves what was there.
// Where `path` is a symbolic link, what it leads to is written. A pipe and a character device, such
// as /dev/stdout and /dev/null, are written into; a folder and what else is no file throw
// UserError.
void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write);
void write_file(const std::filesystem::path& path, const std::string& bytes);

// Writes several files or none, a stream for each: none has its name before all are on the disk.
// The last is there only with the others: an earlier one goes before they are renamed.
void write_files(const std::vector<std::filesystem::path>& paths,
                 const std::function<void(const std::vector<std::ostream*>&)>& write);

// What an output is: text may go into a pipe or a device, a model may not.
enum class Content { text, binary };

struct OutputRules {
  Content content = Content::text;
  bool force = false;                              // --force was given
  std::vector<std::filesystem::path> inputs{};     // what the output is made from
  std::string warning = "--force writes over it";  // of what --force would do
  bool makes_folder = false;                       // where it is missing, before it is written
};

// Asked before the work: throws UserError where `path` is there and may not be written over, is one
// of the inputs, or is no place for this content, and Failure where it cannot be written.
void check_output(const std::filesystem::path& path, const OutputRules& rules);

// Whether what is written there becomes a file, or replaces one; else it goes into a pipe, a device
// or this process' own standard output. Throws UserError where it is no place to write.
bool is_place_of_file(const std::filesystem::path& path);

// Removes what a killed writer left half-written in the folder: NAME.tmp-PID for NAME one of the
// files, unless PID still runs and is another process than this one.
void remove_leftovers(const std::filesystem::path& folder, const std::vector<std::string>& files);

// Makes a rename or a removal inside `folder` durable. Throws Failure.
void sync_folder(const std::filesystem::path& folder);

// Creates the folder and its parents. Throws Failure with the system's reason.
void make_folder(const std::filesystem::path& folder);

}  // namespace transformer
