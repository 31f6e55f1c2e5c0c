#include "hios/platform/store_json.h"

#include <nlohmann/json.hpp>

#include "hios/base/error.h"

namespace hios {

Store store_from_json(const JsonView& view) {
  ObjectReader reader(view);
  Store store;
  const JsonView name = reader.required("name");
  store.name = name.string();
  if (store.name.empty()) name.fail("must not be empty; give it a name");
  const JsonView kind = reader.required("kind");
  const std::string text = kind.string();
  if (text == to_string(StoreKind::kDisk)) {
    store.kind = StoreKind::kDisk;
  } else if (text != to_string(StoreKind::kMemory)) {
    kind.fail("must be \"memory\" or \"disk\", not " + quote(text));
  }
  if (const auto host = reader.optional("host")) store.host = host->string();
  reader.finish();
  return store;
}

Json store_json(const Store& store) {
  Json json = {{"name", store.name}, {"kind", to_string(store.kind)}};
  if (!store.host.empty()) json["host"] = store.host;
  return json;
}

}  // namespace hios
