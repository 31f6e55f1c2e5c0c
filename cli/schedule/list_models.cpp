#include "cli/schedule/list_models.h"

#include <cstdio>

#include "cli/table.h"
#include "hios/graph/model_summary.h"
#include "hios/model/networks/networks.h"

namespace hios::cli {

int list_models(const Common& common) {
  Table table({"model", "input", "operators", "dependencies", "GFLOP", "parameters",
               "largest tensor", "MB"});
  Json list = Json::array();
  for (const models::Entry& entry : models::all()) {
    const Model model = entry.build(1, entry.default_size, entry.default_size);
    const ModelSummary summary = summarize(model);
    table.add({summary.name, model.tensor(model.input()).shape.to_string(),
               std::to_string(summary.operators), std::to_string(summary.dependencies),
               fixed(summary.gflop, 2), std::to_string(summary.parameters), summary.largest_tensor,
               fixed(static_cast<double>(summary.largest_tensor_bytes) / 1e6, 2)});
    list.push_back({{"name", summary.name},
                    {"operators", summary.operators},
                    {"dependencies", summary.dependencies},
                    {"gflop", summary.gflop},
                    {"parameters", summary.parameters}});
  }
  show(table.text());
  if (common.csv) write_text(*common.csv, table.csv(), common.existing);
  if (common.json) write_json(*common.json, {{"models", list}}, common.existing);
  return 0;
}

}  // namespace hios::cli
