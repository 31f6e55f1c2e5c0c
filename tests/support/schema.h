#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hios/base/json/json_io.h"

namespace hios::test {

/// A JSON schema, as far as ours go: those keywords of draft 2020-12 that schedules/schemas/ uses.
/// Any other keyword is an error, so that no rule of a schema goes unchecked unnoticed.
class Schema {
 public:
  /// Throws std::logic_error that names an unknown keyword or a missing definition.
  explicit Schema(Json schema);
  /// schedules/schemas/FORMAT.json
  static Schema of_format(const std::string& format);

  /// Returns the violations by the value, one line each: "$.rows[0].ranks: below 1".
  std::vector<std::string> violations(const Json& value) const;

 private:
  void check_keywords(const Json& schema) const;
  void check(const Json& schema, const Json& value, const std::string& path,
             std::vector<std::string>& found) const;
  void check_object(const Json& schema, const Json& value, const std::string& path,
                    std::vector<std::string>& found) const;
  void check_array(const Json& schema, const Json& value, const std::string& path,
                   std::vector<std::string>& found) const;
  void check_choices(const Json& schema, const Json& value, const std::string& path,
                     std::vector<std::string>& found) const;
  const Json& definition(const std::string& reference) const;

  Json root_;
};

/// Fails the test for each violation of the schema that the value's own "format" names.
void expect_meets_schema(const Json& value);

}  // namespace hios::test
