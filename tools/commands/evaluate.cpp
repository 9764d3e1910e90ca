#include "transformer/decode/evaluate.h"

#include <cstdio>
#include <iostream>

#include "experiments/interrupts.h"
#include "tools/commands/commands.h"
#include "tools/commands/model_options.h"
#include "tools/status_line.h"
#include "transformer/error.h"
#include "transformer/files.h"

namespace transformer {

int evaluate_command(int argc, char** argv) {
  cxxopts::Options options("transformer evaluate");
  add_model_options(options);
  options.add_options()("data", "prefix of the text to evaluate on; data.test unless given",
                        cxxopts::value<std::string>())(
      "hypotheses", "write the translations to this file", cxxopts::value<std::string>())(
      "force", "write over a file that exists")("json", "figures as JSON");
  const auto arguments = parse(
      options,
      {.name = "evaluate",
       .summary = "Perplexity per word-piece and, where it translates, BLEU of a model on parallel "
                  "text.",
       .usage = "--checkpoint RUN [--data PREFIX] [key=value...]",
       .example = "transformer evaluate --checkpoint runs/small --data data/small/test --json",
       .most = 0,
       .with_overrides = true},
      argc, argv);
  if (!arguments) return 0;
  auto loaded = load_model(*arguments);
  const std::string prefix =
      arguments->has("data") ? arguments->get<std::string>("data") : loaded.config.data.test;
  if (prefix.empty())
    throw UserError("evaluate: the config has no data.test; expected --data PREFIX");

  if (arguments->has("hypotheses")) {
    expect_translates(loaded.config.model, "evaluate: --hypotheses");
    const auto text = parallel_files(prefix, loaded.config.data);
    check_output(arguments->get<std::string>("hypotheses"),
                 {.force = arguments->has("force"),
                  .inputs = {text.source, text.target, arguments->get<std::string>("checkpoint")}});
  }
  const auto set = open_evaluation(prefix, loaded.config.data,
                                   {loaded.translator.source, loaded.translator.target});
  const Interrupts interrupts(Interrupts::Second::ends_the_process);
  std::optional<Evaluation> evaluated;
  {
    StatusLine status;
    const auto all = static_cast<double>(set.text.source.size());
    evaluated = evaluate(loaded.translator, set, loaded.config.data.tokens_per_batch,
                         {.on_done =
                              [&](size_t done) {
                                status.update(status.bar(static_cast<double>(done) / all) +
                                              " translating " + prefix);
                              },
                          .stop = &interrupts.asked()});
  }
  if (!evaluated) return interrupts.exit_code();
  const Evaluation& result = *evaluated;
  if (arguments->has("hypotheses")) {
    std::string text;
    for (const auto& line : result.hypotheses) text += line + "\n";
    write_file(arguments->get<std::string>("hypotheses"), text);
  }
  if (arguments->has("json")) {
    Json json = {{"data", prefix},
                 {"sentences", set.text.source.size()},
                 {"perplexity", result.perplexity.value()},
                 {"target_tokens", result.perplexity.tokens}};
    if (result.bleu) json.update({{"bleu", result.bleu->score}, {"bleu_signature", signature()}});
    std::cout << text_of(json, 2) << "\n";
    return 0;
  }
  char perplexity[32];
  std::snprintf(perplexity, sizeof perplexity, "%.3f", result.perplexity.value());
  std::cout << prefix << ": " << grouped(static_cast<int64_t>(set.text.source.size()))
            << " sentences\nperplexity " << perplexity << " per "
            << (scores_sentences(loaded.config.model.family) ? "" : "masked ") << "word-piece ("
            << grouped(result.perplexity.tokens) << " of them)\n";
  if (result.bleu) {
    std::cout << "BLEU " << to_string(*result.bleu) << "\n     " << signature() << "\n";
  }
  return 0;
}

}  // namespace transformer
