#include "hios/graph/fusion/cut_groups.h"

#include <utility>

namespace hios {

CutGroups::CutGroups(const Model& model, const LayerGroups& whole) {
  std::vector<std::size_t> group_of(model.whole()->layers().size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const LayerId id : whole[i]) group_of[id.index()] = i;
  }
  LayerGroups unfinished(whole.size());  // a shard's layers come before the next shard's
  for (std::size_t i = 0; i < model.layers().size(); ++i) {
    const std::optional<LayerId> origin = model.layers()[i].origin;
    if (!origin) {
      groups.push_back({LayerId(i)});
      of_whole.emplace_back();
      continue;
    }
    const std::size_t group = group_of[origin->index()];
    unfinished[group].push_back(LayerId(i));
    if (*origin != whole[group].back()) continue;
    groups.push_back(std::exchange(unfinished[group], {}));
    of_whole.emplace_back(group);
  }
}

}  // namespace hios
