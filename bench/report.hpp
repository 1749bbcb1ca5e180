// Rows as a table, as JSON, as CSV.
#pragma once

#include "measure.hpp"

#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace bench {

nlohmann::ordered_json to_json(row const& r);
/// Reads a row that another process printed.
row from_json(nlohmann::ordered_json const& j);

void print_table_head();
/// A line that names the workload and its serial programs.
void print_workload(std::string_view workload, std::string_view size, baseline const& b);
void print_table_row(row const& r);
/// With a line end.
std::string json_text(std::vector<row> const& rows);
void print_csv(std::vector<row> const& rows);
/// One line on stderr.
void print_error(std::exception const& e);
/// One sentence.
std::string conclusion(std::vector<row> const& rows);

}  // namespace bench
