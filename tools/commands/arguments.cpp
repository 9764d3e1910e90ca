#include "tools/commands/arguments.h"

#include <algorithm>
#include <iostream>

#include "transformer/error.h"

namespace transformer {

std::optional<Arguments> parse(cxxopts::Options& options, const CommandLine& line, int argc,
                               char** argv) {
  options.add_options()("help", "print this help")(
      "positional", "", cxxopts::value<std::vector<std::string>>()->default_value({}));
  options.parse_positional("positional");
  options.positional_help(line.usage).show_positional_help();

  Arguments arguments{options.parse(argc, argv), {}, {}};
  if (arguments.has("help")) {
    options.custom_help("[options]");
    std::string help = options.help({""});
    // The list of positional words is our own device, not an option to type.
    const size_t own = help.find("      --positional");
    if (own != std::string::npos) help.erase(own, help.find('\n', own) + 1 - own);
    std::cout << line.summary << "\n\n"
              << help.substr(help.find("Usage")) << "\nExample:\n  " << line.example << "\n";
    return std::nullopt;
  }
  if (arguments.has("positional")) {
    for (const auto& word : arguments.get<std::vector<std::string>>("positional")) {
      const bool is_override = line.with_overrides && word.find('=') != std::string::npos;
      (is_override ? arguments.overrides : arguments.positional).push_back(word);
    }
  }
  const size_t count = arguments.positional.size();
  if (count < line.fewest || count > line.most) {
    const std::string problem = count < line.fewest
                                    ? "too few arguments"
                                    : "what to do with " + arguments.positional.back();
    throw UserError(problem + "; usage: transformer " + line.name + " [options] " + line.usage +
                    "; --help says more");
  }
  return arguments;
}

}  // namespace transformer
