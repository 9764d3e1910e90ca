#include <algorithm>
#include <iostream>
#include <sstream>

#include "experiments/layout.h"
#include "experiments/quantities.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "transformer/config.h"
#include "transformer/error.h"

namespace transformer {

namespace {

// Each asks the program itself, so that nothing here knows commands, options or keys.
constexpr const char* kBash = R"(_transformer() {
  local line=${COMP_LINE:0:COMP_POINT} words IFS
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  IFS=$'\n'
  COMPREPLY=($("${words[0]}" completion --words "${words[@]:1}" 2>/dev/null))
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
  # To bash a word begins anew after '='.
  local last=${words[-1]}
  [[ $last == *=* && $COMP_WORDBREAKS == *=* ]] && COMPREPLY=("${COMPREPLY[@]#"${last%%=*}="}")
}
complete -o default -F _transformer transformer
)";
constexpr const char* kZsh = R"(#compdef transformer
_transformer() {
  local -a found
  found=("${(@f)$(${words[1]} completion --words "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=(${found:#})
  (( $#found )) || { _files; return }
  compadd -S '' -- ${(M)found:#*=}
  compadd -- ${found:#*=}
}
compdef _transformer transformer
)";
constexpr const char* kFish = R"(function __transformer_complete
  set -l words (commandline -opc) (commandline -ct)
  $words[1] completion --words $words[2..-1] 2>/dev/null
end
complete -c transformer -a '(__transformer_complete)'
)";

using Words = std::vector<std::string>;

// What the program prints for `words` with --help after them.
std::string help_of(Words words) {
  words.insert(words.begin(), "transformer");
  words.emplace_back("--help");
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  std::ostringstream out;
  auto* const before = std::cout.rdbuf(out.rdbuf());
  try {
    run_program(static_cast<int>(argv.size()), argv.data());
  } catch (...) {
    std::cout.rdbuf(before);
    throw;
  }
  std::cout.rdbuf(before);
  return out.str();
}

// The commands that a help screen lists: after a line such as "Topics:", two spaces and a name.
Words commands_in(const std::string& help) {
  Words names;
  bool in_list = false;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with("s:") && !line.starts_with(' ')) {
      in_list = true;
    } else if (line.empty()) {
      in_list = false;
    } else if (in_list && line.starts_with("  ") && line[2] != ' ') {
      names.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
  }
  return names;
}

Words options_in(const std::string& help) {
  Words options;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    const size_t start = line.find_first_not_of(' ');
    if (start == std::string::npos || start == 0 || line[start] != '-') continue;
    const size_t dashes = line.find("--", start);
    if (dashes == std::string::npos || dashes > start + 4) continue;
    const size_t end = line.find_first_of(" =", dashes);
    options.push_back(line.substr(dashes, end - dashes));
  }
  return options;
}

// What the help says that the option takes: "FILE"; nothing for a switch, or one that it has not.
std::string taken_by(const std::string& help, const std::string& option) {
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    bool is_named = false;
    size_t at = std::min(line.find_first_not_of(' '), line.size());
    while (at < line.size() && line[at] == '-') {
      const size_t end = std::min(line.find(' ', at), line.size());
      const bool is_followed = line[end - 1] == ',';  // "-o, --out FILE"
      is_named = is_named || line.substr(at, end - at - (is_followed ? 1 : 0)) == option;
      at = end + 1;
    }
    if (!is_named) continue;
    // What is said of a switch stands further off.
    return at < line.size() && line[at] != ' ' ? line.substr(at, line.find(' ', at) - at) : "";
  }
  return "";
}

Words split(const std::string& text, char between) {
  Words parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, between);) parts.push_back(part);
  return parts;
}

// For an option that takes one of several names, KEY or COLUMN, or a list of them, of which `last`
// has the beginning.
Words values_for(const std::string& taken, const std::string& last) {
  Words names;
  if (taken.find('|') != std::string::npos) names = split(taken, '|');
  if (taken.starts_with("COLUMN")) {
    for (const auto& quantity : quantities({})) names.push_back(quantity.name);
  }
  if (taken.starts_with("COLUMN") || taken.starts_with("KEY")) {
    const auto keys = headings(known_keys<Config>());  // whole where the last parts are alike
    names.insert(names.end(), keys.begin(), keys.end());
  }
  const size_t comma = taken.ends_with("...") ? last.rfind(',') : std::string::npos;
  const std::string before = comma == std::string::npos ? "" : last.substr(0, comma + 1);
  for (auto& name : names) name.insert(0, before);
  return names;
}

// The names of values that a key takes, where they have names.
template <Fields T>
Words values_of(const std::string& key, const std::string& path = "") {
  Words values;
  T config;
  T::visit(config, [&]<class F>(const char* name, F&) {
    const auto full = fields::join(path, name);
    if constexpr (Fields<F>) {
      const auto inner = values_of<F>(key, full);
      values.insert(values.end(), inner.begin(), inner.end());
    } else if (full == key) {
      if constexpr (NamedEnum<F>) {
        for (const auto* value : names(F{})) values.emplace_back(value);
      } else if constexpr (std::same_as<F, bool>) {
        values = {"true", "false"};
      }
    }
  });
  return values;
}

Words candidates(Words words) {
  const std::string last = words.empty() ? "" : words.back();
  if (!words.empty()) words.pop_back();
  Words path;
  std::string help = help_of(path);
  Words commands = commands_in(help);
  for (const auto& word : words) {
    if (std::find(commands.begin(), commands.end(), word) == commands.end()) break;
    path.push_back(word);
    help = help_of(path);
    commands = commands_in(help);
  }
  if (!words.empty() && words.back().starts_with('-')) {
    const auto taken = taken_by(help, words.back());
    if (!taken.empty()) return values_for(taken, last);
  }
  if (!commands.empty() && path.size() == words.size() && !last.starts_with('-')) return commands;
  if (const size_t equals = last.find('='); last.starts_with("--") && equals != std::string::npos) {
    const std::string option = last.substr(0, equals);
    auto values = values_for(taken_by(help, option), last.substr(equals + 1));
    for (auto& value : values) value.insert(0, option + "=");
    return values;
  }
  if (last.starts_with('-')) return options_in(help);
  if (help.find("key=value") == std::string::npos) return {};
  const size_t equals = last.find('=');
  Words all;
  if (equals == std::string::npos) {
    if (last.empty()) return {};  // files stand here more often than keys
    for (const auto& key : known_keys<Config>()) all.push_back(key + "=");
  } else {
    const std::string key = last.substr(0, equals);
    for (const auto& value : values_of<Config>(key)) all.push_back(key + "=" + value);
  }
  return all;
}

}  // namespace

int completion_command(int argc, char** argv) {
  // Asked by the scripts: these words are another command's, options included.
  if (argc > 1 && std::string(argv[1]) == "--words") {
    const Words words(argv + 2, argv + argc);
    for (const auto& word : candidates(words)) {
      if (words.empty() || word.starts_with(words.back())) std::cout << word << "\n";
    }
    return 0;
  }
  cxxopts::Options options("transformer completion");
  const auto arguments = parse(
      options,
      {.name = "completion",
       .summary = "Prints a script that completes commands, options, config keys and their values.",
       .usage = "bash|zsh|fish",
       .example = "source <(transformer completion bash)",
       .fewest = 1,
       .most = 1},
      argc, argv);
  if (!arguments) return 0;
  const auto& shell = arguments->positional[0];
  if (shell != "bash" && shell != "zsh" && shell != "fish") {
    throw UserError("completion: " + fields::shown(Json(shell)) +
                    " is not one of: bash, zsh, fish");
  }
  std::cout << (shell == "bash" ? kBash : shell == "zsh" ? kZsh : kFish);
  return 0;
}

}  // namespace transformer
