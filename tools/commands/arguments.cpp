#include "tools/commands/arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iostream>
#include <set>

#include "transformer/config.h"
#include "transformer/error.h"

namespace transformer {

namespace {

struct Known {
  std::vector<std::string> names;     // --out
  std::vector<std::string> flags;     // those that take no value
  std::vector<std::string> switches;  // those that take true or false
};

Known known_options(const cxxopts::Options& options) {
  Known known;
  for (const auto& option : options.group_help("").options) {
    const bool is_switch = option.is_boolean && option.default_value == "true";
    for (const auto& name : option.l) {
      if (name == "positional") continue;
      known.names.push_back("--" + name);
      if (option.is_boolean) (is_switch ? known.switches : known.flags).push_back("--" + name);
    }
  }
  return known;
}

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// --beam where decoding.beam=8 is meant.
std::string meant_keys(std::string option) {
  option.erase(0, 2);
  std::replace(option.begin(), option.end(), '-', '_');
  std::string meant;
  for (const auto& key : known_keys<Config>()) {
    if (key.substr(key.find('.') + 1) != option) continue;
    meant += (meant.empty() ? "" : " or ") + key + "=VALUE";
  }
  return meant;
}

[[noreturn]] void refuse_unknown(const std::string& option, const std::vector<std::string>& known,
                                 bool with_overrides) {
  std::string hint = nearest_key(option, known);
  const std::string keys = with_overrides ? meant_keys(option) : "";
  if (!keys.empty() && !hint.starts_with("; did you mean")) hint = "; did you mean " + keys + "?";
  throw UserError(fields::shown_name(option) + ": unknown option" + hint);
}

void check_names(const Known& known, bool with_overrides, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--") return;
    if (!word.starts_with("--")) continue;
    const std::string name = word.substr(0, word.find('='));
    if (!contains(known.names, name)) refuse_unknown(name, known.names, with_overrides);
    if (name == word) continue;
    const std::string value = word.substr(name.size() + 1);
    if (contains(known.flags, name)) {
      throw UserError(name + ": takes no value; got " + fields::shown_name(value));
    }
    if (contains(known.switches, name) && value != "true" && value != "false") {
      throw UserError(name + ": expected true or false; got " + fields::shown_name(value));
    }
  }
}

cxxopts::ParseResult parsed_by_cxxopts(cxxopts::Options& options, int argc, char** argv) {
  try {
    return options.parse(argc, argv);
  } catch (const cxxopts::exceptions::missing_argument&) {  // only the last word can lack one
    throw UserError(std::string(argv[argc - 1]) + ": expected a value; got none");
  } catch (const cxxopts::exceptions::parsing& error) {
    throw UserError(std::string(error.what()) + "; --help says more");
  }
}

// "--jobs --dry-run" leaves --jobs without its value, and so does "--rows=". Of an option that is
// given twice cxxopts would take the last.
void check_values(const cxxopts::ParseResult& parsed, const Known& known) {
  std::set<std::string> seen;
  for (const auto& given : parsed.arguments()) {
    if (given.key() == "positional") continue;
    if (!seen.insert(given.key()).second) throw UserError("--" + given.key() + ": is given twice");
    const std::string& value = given.value();
    if (value.empty()) throw UserError("--" + given.key() + ": expected a value; got none");
    if (contains(known.names, value.substr(0, value.find('=')))) {
      throw UserError("--" + given.key() + ": expected a value; got the option " + value);
    }
  }
}

[[noreturn]] void refuse(const std::string& option, const std::string& expected,
                         const std::string& text) {
  throw UserError("--" + option + ": expected " + expected + "; got " + fields::shown_name(text));
}

}  // namespace

int64_t Arguments::integer(const std::string& option, int64_t least, int64_t most) const {
  const auto text = get<std::string>(option);
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && read == end && least <= value && value <= most) return value;
  refuse(option,
         most < std::numeric_limits<int64_t>::max()
             ? "an integer in " + std::to_string(least) + ".." + std::to_string(most)
             : "an integer of at least " + std::to_string(least),
         text);
}

double Arguments::positive_number(const std::string& option) const {
  const auto text = get<std::string>(option);
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && read == end && std::isfinite(value) && value > 0) return value;
  refuse(option, "a number above 0", text);
}

std::optional<Arguments> parse(cxxopts::Options& options, const CommandLine& line, int argc,
                               char** argv) {
  options.add_options()("help", "print this help")(
      "positional", "", cxxopts::value<std::vector<std::string>>()->default_value({}));
  options.parse_positional("positional");
  options.positional_help(line.usage).show_positional_help();

  const auto known = known_options(options);
  check_names(known, line.with_overrides, argc, argv);
  Arguments arguments{parsed_by_cxxopts(options, argc, argv), {}, {}};
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
  check_values(arguments.options, known);
  if (arguments.has("positional")) {
    for (const auto& word : arguments.get<std::vector<std::string>>("positional")) {
      const bool is_override = line.with_overrides && word.find('=') != std::string::npos;
      (is_override ? arguments.overrides : arguments.positional).push_back(word);
    }
  }
  const size_t count = arguments.positional.size();
  if (count < line.fewest || count > line.most) {
    const std::string problem =
        count < line.fewest ? "too few arguments"
                            : "what to do with " + fields::shown_name(arguments.positional.back());
    throw UserError(problem + "; usage: transformer " + line.name + " [options] " + line.usage +
                    "; --help says more");
  }
  return arguments;
}

}  // namespace transformer
