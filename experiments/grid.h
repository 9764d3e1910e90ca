#pragma once

// A grid is keys with lists of values; its rows are their product.

#include <string>
#include <vector>

#include "transformer/json.h"

namespace transformer {

struct GridAxis {
  std::string key;  // dotted: model.h
  std::vector<Json> values;
};

// "post,pre" -> post and pre. A comma inside a JSON list, object or string does not divide:
// ["a","b"] and "a,b" are one value. Throws UserError with `where` on a missing value or an open
// bracket or quote.
std::vector<std::string> split_list(const std::string& text, const std::string& where);

// What each row of the grid sets, an object by dotted key. The last axis changes fastest. One empty
// object where there are no axes.
std::vector<Json> product(const std::vector<GridAxis>& axes);

// A name for a row of a grid out of [A-Za-z0-9._-]: norm_placement-post--warmup_steps-0. Depends on
// nothing but `set`; different sets have different names.
std::string grid_id(const Json& set);

}  // namespace transformer
