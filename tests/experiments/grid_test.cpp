#include "experiments/grid.h"

#include "tests/catch.h"
#include "transformer/error.h"

using namespace transformer;
using Catch::Matchers::Contains;

TEST_CASE("grid: commas divide values, but not inside a list, an object or a string") {
  using List = std::vector<std::string>;
  REQUIRE(split_list("post,pre", "k") == List{"post", "pre"});
  REQUIRE(split_list("4", "k") == List{"4"});
  REQUIRE(split_list("", "k") == List{""});
  REQUIRE(split_list(R"(["a","b"])", "k") == List{R"(["a","b"])"});
  REQUIRE(split_list(R"(["a","b"],["c"])", "k") == List{R"(["a","b"])", R"(["c"])"});
  REQUIRE(split_list(R"("a,b")", "k") == List{R"("a,b")"});
  REQUIRE(split_list(R"("a\",b",c)", "k") == List{R"("a\",b")", "c"});
  REQUIRE_THROWS_WITH(split_list("1,,2", "k"),
                      "k: expected a value on both sides of each comma; got 1,,2");
  REQUIRE_THROWS_WITH(split_list("1,", "k"), Contains("on both sides"));
  REQUIRE_THROWS_WITH(split_list("[1,2", "k"), "k: a bracket is not closed: [1,2");
  REQUIRE_THROWS_WITH(split_list("\"a", "k"), "k: a quote is not closed: \"a");
}

TEST_CASE("grid: the product of two axes, the last one fastest") {
  const auto rows = product({{"model.h", {1, 2}}, {"model.N", {3, 4, 5}}});
  std::string all;
  for (const auto& row : rows) all += row.dump();
  REQUIRE(all == R"({"model.h":1,"model.N":3}{"model.h":1,"model.N":4}{"model.h":1,"model.N":5})"
                 R"({"model.h":2,"model.N":3}{"model.h":2,"model.N":4}{"model.h":2,"model.N":5})");
  REQUIRE(product({}) == std::vector<Json>{Json::object()});
}

TEST_CASE("grid: a row's name says what it sets") {
  REQUIRE(grid_id({{"model.norm_placement", "post"}, {"training.warmup_steps", 0}}) ==
          "norm_placement-post--warmup_steps-0");
  REQUIRE(grid_id({{"model.P_drop", 0.1}, {"model.d_k", nullptr}}) == "P_drop-0.1--d_k-null");
  REQUIRE(grid_id(Json::object()).empty());
}

TEST_CASE("grid: values that cannot stand in a file's name get different names that can") {
  const auto name = [](const Json& value) { return grid_id({{"data.valid", value}}); };
  for (const Json& value : {Json("a/b"), Json("../../etc"), Json(""), Json("\xff\n"), Json("ä"),
                            Json(std::string(500, 'x')), Json({"a", "b"})}) {
    INFO(name(value));
    REQUIRE(name(value).find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789._-") == std::string::npos);
    REQUIRE(name(value).size() < 70);
  }
  REQUIRE(name("a/b") != name("a_b"));
  REQUIRE(name("a/b") != name("a b"));
  REQUIRE(name(std::string(500, 'x')) != name(std::string(501, 'x')));
}
