#include "transformer/decode/bleu.h"

#include <iostream>

#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "transformer/data/parallel_text.h"
#include "transformer/error.h"
#include "transformer/json.h"

namespace transformer {

namespace {

Json bleu_json(const BleuScore& score) {
  return {
      {"bleu", score.score},    {"bleu_signature", signature()}, {"precisions", score.precisions},
      {"bp", score.bp},         {"sys_len", score.sys_len},      {"ref_len", score.ref_len},
      {"counts", score.counts}, {"totals", score.totals}};
}

}  // namespace

int bleu_command(int argc, char** argv) {
  cxxopts::Options options("transformer bleu");
  options.add_options()("reference", "the right translations, a sentence a line",
                        cxxopts::value<std::string>(),
                        "FILE")("hypothesis", "the translations to be scored; - is standard input",
                                cxxopts::value<std::string>()->default_value("-"),
                                "FILE")("json", "print every figure as JSON");
  const auto arguments = parse(options,
                               {.name = "bleu",
                                .summary = "Scores detokenised translations as sacreBLEU does:\n"
                                           "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp.",
                                .usage = "",
                                .example = "transformer translate --checkpoint RUN < test.en | "
                                           "transformer bleu --reference test.de"},
                               argc, argv);
  if (!arguments) return 0;
  if (!arguments->has("reference")) {
    throw UserError("bleu: expected --reference FILE, the right translations; got none");
  }
  const auto reference = arguments->get<std::string>("reference");
  const auto hypothesis = arguments->get<std::string>("hypothesis");
  if (reference == "-" && hypothesis == "-") {
    throw UserError("--hypothesis: standard input is the reference already; name a file");
  }
  const auto references = read_lines(reference);
  const auto hypotheses = read_lines(hypothesis);
  if (references.size() != hypotheses.size()) {
    throw UserError((hypothesis == "-" ? "standard input" : hypothesis) + ": expected " +
                    std::to_string(references.size()) + " lines, as " + reference + " has; got " +
                    std::to_string(hypotheses.size()));
  }
  const auto score = corpus_bleu(hypotheses, references);
  if (arguments->has("json")) {
    std::cout << text_of(bleu_json(score), 2) << "\n";
  } else {
    std::cout << "BLEU|" << signature() << " = " << to_string(score) << "\n";
  }
  return 0;
}

}  // namespace transformer
