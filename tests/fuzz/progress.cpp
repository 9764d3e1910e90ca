#include <torch/torch.h>

#include <limits>
#include <type_traits>

#include "tests/fuzz/targets.h"
#include "tests/temporary_folder.h"
#include "transformer/sealed_json.h"
#include "transformer/train/checkpoint.h"

namespace transformer::fuzz {
namespace fs = std::filesystem;

namespace {

// Of step 1, sound but for the progress.json that is put there.
const fs::path& checkpoint_folder() {
  static const TemporaryFolder folder;
  static const fs::path checkpoint = [] {
    Progress progress;
    progress.step = 1;
    const auto value = torch::zeros({2});
    write_checkpoint(folder.path(),
                     {resolve(Config()), "v", progress, {{"w", value}}, {{"m", value}}});
    return folder / checkpoint_name(1);
  }();
  return checkpoint;
}

}  // namespace

void progress(const std::string& bytes) {
  const fs::path folder = checkpoint_folder();
  const fs::path file = folder / "progress.json";
  put(file, bytes);
  damage_of_checkpoint(folder);
  write_sealed(file, object_in(bytes));
  const Progress read = read_checkpoint(folder).progress;
  Progress::visit(read, []<class T>(const char*, const T& value) {
    if constexpr (std::is_same_v<T, int64_t>) {
      promise(value >= 0 && value <= std::numeric_limits<T>::max() / 2, "counts can be added to");
    }
  });
  write_sealed(file, to_json(read));
  promise(to_json(read_checkpoint(folder).progress) == to_json(read), "it reads back as written");
}

}  // namespace transformer::fuzz
