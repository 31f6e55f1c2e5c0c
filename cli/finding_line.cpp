#include "cli/finding_line.h"

namespace hios::cli {

std::string finding_line(const std::string& file, const Finding& finding) {
  std::string where = "$.devices";
  if (finding.device) where += "[" + std::to_string(finding.device->index()) + "]";
  if (finding.device && finding.stage) where += ".stages[" + std::to_string(*finding.stage) + "]";
  return file + ": " + where + ": " + finding.text;
}

}  // namespace hios::cli
