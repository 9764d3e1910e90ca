#pragma once

#include <string>

#include "tools/serve/access.h"
#include "tools/serve/http_server.h"
#include "tools/serve/live_runs.h"
#include "tools/serve/model_answers.h"
#include "tools/serve/model_worker.h"

namespace transformer {

// What a page can ask. The parts outlive the server.
struct Parts {
  std::string folder;  // as the user named it
  const Access& access;
  LiveRuns& runs;
  ModelWorker& worker;
  ModelAnswers& models;  // within the worker's jobs
};

// Sets what the server answers. Every answer but an error is the page's files or JSON; an error is
// {"error": MESSAGE} with HTTP's status: 400 what was asked cannot be, 401 without the token, 403
// and 421 from elsewhere, 404, 405, 411, 413 and 415 what HTTP means by them, 503 too busy.
void set_routes(HttpServer& server, const Parts& parts);

}  // namespace transformer
