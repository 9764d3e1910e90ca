#pragma once

// The files of the live page, tools/serve/page/, and the configs that it starts from: put into the
// program when it is built.

#include <optional>
#include <string>
#include <string_view>

namespace transformer {

struct PageFile {
  std::string_view bytes;
  const char* type;  // as HTTP names it
};

// "index.html", "style.css", ...; nullopt where there is no such file.
std::optional<PageFile> page_file(const std::string& name);

}  // namespace transformer
