#include "tools/serve/routes.h"

#include <c10/util/Exception.h>

#include <cxxopts.hpp>

#include "tools/serve/explore.h"
#include "tools/serve/page_files.h"
#include "transformer/error.h"
#include "transformer/fields.h"
#include "transformer/fingerprint.h"
#include "transformer/version.h"

namespace transformer {

namespace {

using httplib::Request;
using httplib::Response;
using Next = httplib::Server::HandlerResponse;

constexpr const char* kJsonType = "application/json";

void answer_error(Response& response, int status, const std::string& message) {
  response.status = status;
  response.set_content(text_of({{"error", message}}), kJsonType);
}

// Nothing but this server's own files is loaded or sent to; nothing is kept, framed or guessed.
httplib::Headers safe_headers() {
  return {{"Content-Security-Policy",
           "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
           "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Opener-Policy", "same-origin"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Permissions-Policy", "camera=(), microphone=(), geolocation=()"}};
}

void answer_file(const Request& request, Response& response, const std::string& name) {
  const auto file = page_file(name);
  if (!file || file->bytes.empty()) return answer_error(response, 404, "no such page");
  const std::string tag = "\"" + fingerprint(file->bytes) + "\"";
  response.set_header("ETag", tag);
  response.set_header("Cache-Control", "no-cache");
  if (request.get_header_value("If-None-Match") == tag) {
    response.status = 304;
  } else {
    response.set_content(file->bytes.data(), file->bytes.size(), file->type);
  }
}

void answer_json(Response& response, const std::string& json) {
  response.set_header("Cache-Control", "no-store");
  response.set_content(json, kJsonType);
}

// What may be asked without the token: the page that asks for it, and how that looks.
void answer_login(const Request& request, Response& response) {
  if (request.path == "/style.css" || request.path == "/icon.svg") {
    return answer_file(request, response, request.path.substr(1));
  }
  if (request.path != "/" || request.method == "POST") {
    return answer_error(response, 401, "expected the token that was printed at the start");
  }
  const auto page = page_file("login.html");
  response.status = 401;
  response.set_header("Cache-Control", "no-store");
  response.set_content(page->bytes.data(), page->bytes.size(), page->type);
}

// A body is JSON, at most so many bytes, and its length is stated before it.
std::optional<Refusal> bad_content(const Request& request, size_t most) {
  if (request.method != "GET" && request.method != "HEAD" && request.method != "POST") {
    return Refusal{405, request.method + ": expected GET, HEAD or POST"};
  }
  if (request.has_header("Transfer-Encoding") || request.has_header("Content-Encoding")) {
    return Refusal{411, "expected a body as it is, with its Content-Length"};
  }
  if (request.method != "POST") {
    const auto stated = request.get_header_value("Content-Length");
    if (stated.empty() || stated == "0") return std::nullopt;
    return Refusal{400, request.method + ": expected no body"};
  }
  const auto length = request.get_header_value("Content-Length");
  if (length.empty()) return Refusal{411, "expected a Content-Length"};
  if (length.find_first_not_of("0123456789") != std::string::npos) {
    return Refusal{400, "Content-Length: expected a number"};
  }
  // Said at once: nothing of it is waited for.
  if (length.size() > 9 || std::stoul(length) > most) return Refusal{413, "the body is too large"};
  if (!request.get_header_value("Content-Type").starts_with(kJsonType)) {
    return Refusal{415, "expected a body of type application/json"};
  }
  return std::nullopt;
}

// Before anything else is looked at, the body included.
Next guard(const Access& access, size_t most, const Request& request, Response& response) {
  auto refusal = Access::foreign(request);
  if (!refusal) refusal = bad_content(request, most);
  if (refusal) {
    answer_error(response, refusal->status, refusal->message);
    return Next::Handled;
  }
  if (request.path == "/" && request.has_param("token") &&
      access.is_token(request.get_param_value("token"))) {
    response.set_header("Set-Cookie", access.cookie());
    response.set_redirect("/", 303);  // the token is not left in the address
    return Next::Handled;
  }
  if (access.is_known(request)) return Next::Unhandled;
  answer_login(request, response);
  return Next::Handled;
}

void answer_problem(Response& response, const std::exception_ptr& problem) {
  try {
    std::rethrow_exception(problem);
  } catch (const UserError& error) {
    answer_error(response, 400, error.what());
  } catch (const cxxopts::exceptions::exception& error) {
    answer_error(response, 400, error.what());
  } catch (const Busy& busy) {
    response.set_header("Retry-After", "2");
    answer_error(response, 503, busy.what());
  } catch (const c10::Error& error) {
    answer_error(response, 500, error.what_without_backtrace());
  } catch (const std::exception& error) {
    answer_error(response, 500, error.what());
  } catch (...) {
    answer_error(response, 500, "failed");
  }
}

// A parameter given twice is refused, as a key on the command line is.
Question question_of(const Request& request) {
  Question question;
  for (const auto& [key, value] : request.params) {
    if (!question.emplace(key, value).second) {
      throw UserError(fields::shown_name(key) + ": is given twice");
    }
  }
  return question;
}

void answer_figures(const Request& request, Response& response, ModelWorker& worker) {
  auto exploration = std::make_shared<Exploration>(request.matches[1].str(), question_of(request));
  const auto figures = [exploration](const std::atomic<bool>&) { return exploration->figures(); };
  answer_json(response, text_of(exploration->needs_model() ? worker.answer(figures)
                                                           : exploration->figures()));
}

void answer_known(Response& response, const std::optional<std::string>& json) {
  if (json) {
    answer_json(response, *json);
  } else {
    answer_error(response, 404, "sweep: there is none of this name under the folder");
  }
}

std::filesystem::path known_model(LiveRuns& runs, const std::string& name) {
  const auto folder = runs.model(name);
  if (folder) return *folder;
  throw UserError("checkpoint: " + fields::shown_name(name) +
                  ": there is none of this name under the folder");
}

template <class T>
T body_of(const Request& request) {
  return from_json<T>(parse_json(request.body, "request"), "request");
}

}  // namespace

void set_routes(HttpServer& server, const Parts& parts) {
  server.set_default_headers(safe_headers());
  server.set_pre_routing_handler(
      [&access = parts.access, most = server.bounds().body_bytes](
          const auto& request, auto& response) { return guard(access, most, request, response); });
  server.set_exception_handler(
      [](const auto&, auto& response, const auto& problem) { answer_problem(response, problem); });
  server.set_error_handler([](const auto&, Response& response) {
    if (response.body.empty()) {
      answer_error(response, response.status,
                   response.status == 404   ? "there is no such page"
                   : response.status == 413 ? "the body is too large"
                                            : "the request cannot be read");
    }
  });

  server.Get("/", [](const auto& request, auto& response) {
    answer_file(request, response, "index.html");
  });
  server.Get("/([a-z0-9]{1,20}[.](?:js|css|svg))", [](const auto& request, auto& response) {
    answer_file(request, response, request.matches[1].str());
  });
  server.Get("/api/inspect/([a-z-]{1,40})",
             [&worker = parts.worker](const auto& request, auto& response) {
               answer_figures(request, response, worker);
             });
  server.Get("/api/about", [folder = parts.folder](const auto&, auto& response) {
    answer_json(response, text_of({{"folder", folder},
                                   {"version", kVersion},
                                   {"draws_charts", !page_file("vega.js")->bytes.empty()}}));
  });
  server.Get("/api/table3", [](const auto& request, auto& response) {
    answer_json(response, text_of(table3_figures(question_of(request))));
  });
  server.Get("/api/runs", [&runs = parts.runs](const auto&, auto& response) {
    answer_json(response, runs.overview());
  });
  server.Get("/api/sweep", [&runs = parts.runs](const auto& request, auto& response) {
    answer_known(response, runs.sweep(request.get_param_value("name")));
  });
  server.Get("/api/charts", [&runs = parts.runs](const auto& request, auto& response) {
    answer_known(response, runs.charts(request.get_param_value("name")));
  });
  server.Post("/api/translate", [parts](const Request& request, Response& response) {
    const auto asked = body_of<TranslationRequest>(request);
    const auto folder = known_model(parts.runs, asked.checkpoint);
    answer_json(response, text_of(parts.worker.answer([=](const std::atomic<bool>& stop) {
                  return parts.models.translation(folder, asked, stop);
                })));
  });
  server.Post("/api/attention", [parts](const Request& request, Response& response) {
    const auto asked = body_of<AttentionRequest>(request);
    const auto folder = known_model(parts.runs, asked.checkpoint);
    answer_json(response, text_of(parts.worker.answer([=](const std::atomic<bool>&) {
                  return parts.models.attention(folder, asked);
                })));
  });
}

}  // namespace transformer
