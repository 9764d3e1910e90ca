#include <iostream>
#include <thread>

#include "experiments/interrupts.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/serve/routes.h"
#include "tools/vega.h"
#include "transformer/error.h"
#include "transformer/train/device.h"

namespace transformer {

namespace {

constexpr auto kAddress = "127.0.0.1";

// Returns the port.
int bind_to(HttpServer& server, int port) {
  if (port == 0) {
    port = server.bind_to_any_port(kAddress);
    if (port < 0) throw Failure(std::string(kAddress) + ": no port is free");
  } else if (!server.bind_to_port(kAddress, port)) {
    throw Failure("port " + std::to_string(port) +
                  ": is in use or not to be had; name another with --port, or 0 for any");
  }
  return port;
}

void announce(const Access& access, int port) {
  const std::string number = std::to_string(port);
  std::cout << "http://" << kAddress << ":" << number << "/?token=" << access.token() << std::endl;
  std::cerr << "From another machine: ssh -L " << number << ":" << kAddress << ":" << number
            << " HOST, then open this address there. Ctrl-C ends.\n";
  if (vega_scripts().empty()) {
    std::cerr << "transformer: built without npm: the page has the charts' figures in tables\n";
  }
}

}  // namespace

int serve_command(int argc, char** argv) {
  constexpr int64_t kMostPort = 65535;
  cxxopts::Options options("transformer serve");
  options.add_options()("port", "0: any that is free",
                        cxxopts::value<std::string>()->default_value("6006"))(
      "threads", "of the one model that computes at a time",
      cxxopts::value<std::string>()->default_value("1"));
  const auto arguments = parse(
      options,
      {.name = "serve",
       .summary =
           "A page on this machine, for a browser: the sweeps and runs under DIR as they go on; "
           "the paper's quantities\nwith sliders; and what a trained model translates, with its "
           "beam and attention. Prints the address to open,\nwith a token that it asks for. Reads "
           "under DIR and changes nothing.",
       .usage = "[DIR]",
       .example = "transformer serve runs",
       .most = 1},
      argc, argv);
  if (!arguments) return 0;
  const auto port = static_cast<int>(arguments->integer("port", 0, kMostPort));
  const int64_t threads = arguments->integer("threads", 1, kMostThreads);
  const std::string folder = arguments->positional.empty() ? "." : arguments->positional[0];

  const KnownRuns known(folder);
  HttpServer server{HttpBounds()};
  const int bound = bind_to(server, port);
  const Access access(bound);
  constexpr size_t kWaiting = 4;
  constexpr std::chrono::seconds kPatience{60};
  ModelAnswers models;
  ModelWorker worker(kWaiting, threads, kPatience);
  LiveRuns runs(known);
  set_routes(server, {folder, access, runs, worker, models});

  const Interrupts interrupts(Interrupts::Second::ends_the_process);
  std::thread listening([&] { server.listen_after_bind(); });
  announce(access, bound);
  while (interrupts.count() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  worker.stop();
  server.stop_soon();
  listening.join();
  return 0;
}

}  // namespace transformer
