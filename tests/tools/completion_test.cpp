#include <cstdlib>

#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/tools/program.h"
#include "transformer/files.h"

using Catch::Matchers::Contains;
using namespace transformer;

namespace {

std::string completed(std::vector<std::string> words) {
  words.insert(words.begin(), {"completion", "--words"});
  const auto ran = run_program(words);
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  return ran.out;
}

}  // namespace

TEST_CASE("completion: commands, their subcommands, options, config keys and names of values",
          "[e2e]") {
  REQUIRE(completed({"tra"}) == "train\ntranslate\n");
  REQUIRE(completed({"data", ""}) == "generate\nprepare\nvocabulary\n");
  REQUIRE(completed({"inspect", "pos"}) == "positions\n");
  REQUIRE(completed({"sweep", "--dr"}) == "--dry-run\n");
  REQUIRE(completed({"bench", "train", "--wa"}) == "--warmup\n");
  REQUIRE(completed({"train", "c.json", "training.beta"}) == "training.beta1=\ntraining.beta2=\n");
  REQUIRE_THAT(completed({"train", "--out", "d", "c.json", "model.norm_placement=p"}),
               Contains("model.norm_placement=post\nmodel.norm_placement=pre\n"));
  REQUIRE(completed({"train", ""}).empty());  // a file is meant
  REQUIRE(completed({"table", "m"}).empty());
}

TEST_CASE("completion: what an option takes", "[e2e]") {
  REQUIRE(completed({"table", "runs/x", "--format", ""}) ==
          "text\nmarkdown\nlatex\ncsv\njson\nhtml\n");
  REQUIRE(completed({"table", "--format=la"}) == "--format=latex\n");
  REQUIRE(completed({"compare", "--format", "c"}).empty());
  REQUIRE(completed({"sweep", "--launcher", "s"}) == "slurm\n");
  REQUIRE(completed({"data", "vocabulary", "--kind", "u"}) == "unigram\n");
  REQUIRE(completed({"table", "--sort", "tok"}) == "tokens/s\n");
  REQUIRE(completed({"table", "--sort", "data.tok"}) == "data.tokens_per_batch\n");
  REQUIRE(completed({"table", "--columns", "PPL,BLEU,d_mo"}) == "PPL,BLEU,d_model\n");
  REQUIRE(completed({"compare", "--by", "norm_p"}) == "norm_placement\n");
  REQUIRE(completed({"table", "--sort", "PPL,d_mo"}).empty());  // one, not a list
  REQUIRE(completed({"report", "-o", ""}).empty());             // a file is meant
  REQUIRE_THAT(completed({"table", "--reverse", "--"}), Contains("--sort\n"));
}

TEST_CASE("completion: bash offers what follows '=' without the key before it", "[e2e]") {
  const TemporaryFolder folder;
  write_file(folder / "try.sh",
             std::string("source <('") + TRANSFORMER_PROGRAM + "' completion bash)\nCOMP_LINE=\"'" +
                 TRANSFORMER_PROGRAM +
                 "' train x model.norm_placement=pr\"\n"
                 "COMP_LINE=${COMP_LINE//\\'/}\nCOMP_POINT=${#COMP_LINE}\n"
                 "_transformer 2>/dev/null\nprintf '%s\\n' \"${COMPREPLY[@]}\" > '" +
                 (folder / "out").string() + "'\n");
  REQUIRE(std::system(("bash '" + (folder / "try.sh").string() + "'").c_str()) == 0);
  REQUIRE(read_file(folder / "out") == "pre\n");
}
