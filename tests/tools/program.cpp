#include "tests/tools/program.h"

#include <sys/wait.h>

#include <cstdlib>

#include "tests/temporary_folder.h"
#include "transformer/files.h"

namespace {

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

std::string signalled_once(const std::string& signal, const std::string& test) {
  // A shell's background processes have no standard input but what they are given.
  return "sh -c " +
         quoted("exec 3<&0; \"$@\" <&3 3<&- & tries=0; until " + test +
                " || [ $((tries += 1)) -gt 6000 ]; do sleep 0.01; done; kill -" + signal +
                " $!; wait $!") +
         " sh";
}

Outcome run_program(const std::vector<std::string>& words, const std::string& input,
                    const std::string& before) {
  const TemporaryFolder folder;
  transformer::write_file(folder / "in", input);
  std::string line = "cd " + quoted(TRANSFORMER_SOURCE) + " && export OMP_NUM_THREADS=1 && " +
                     before + " " + quoted(TRANSFORMER_PROGRAM);
  for (const auto& word : words) line += " " + quoted(word);
  const auto file = [&](const char* name) { return quoted((folder / name).string()); };
  line = "{ " + line + "; } < " + file("in") + " > " + file("out") + " 2> " + file("err");
  const int status = std::system(line.c_str());  // NOLINT: words are quoted
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          transformer::read_file(folder / "out"), transformer::read_file(folder / "err")};
}
