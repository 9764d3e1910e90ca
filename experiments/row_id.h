#pragma once

#include <string>

namespace transformer {

// A row's id names a folder within the sweep's own: letters, digits, '.', '_' and '-', a letter or
// digit first, at most 200, and no name that a file there has. So no id that was read from a file
// leads out of that folder, hides in it or means something to a shell. Throws UserError with
// `where` on any other.
void check_row_id(const std::string& id, const std::string& where);

// A letter, a digit, '.', '_' or '-'.
bool fits_an_id(char c);

// The name of an experiment's file, as far as it can be an id.
std::string row_id_of(const std::string& name);

}  // namespace transformer
