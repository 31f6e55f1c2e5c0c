#include "hios/platform/store_json.h"

#include <nlohmann/json.hpp>

#include "hios/base/error.h"

namespace hios {
namespace {

StoreKind read_store_kind(const JsonView& view) {
  const std::string text = view.string();
  for (const StoreKind kind : {StoreKind::kMemory, StoreKind::kDisk}) {
    if (text == to_string(kind)) return kind;
  }
  view.fail(quote(text) + R"( is unknown; use one of "memory", "disk")");
}

}  // namespace

Store store_from_json(const JsonView& view) {
  ObjectReader reader(view);
  Store store;
  const JsonView name = reader.required("name");
  store.name = name.string();
  if (store.name.empty()) name.fail("must not be empty; give it a name");
  if (const auto host = reader.optional("host")) store.host = host->string();
  store.kind = read_store_kind(reader.required("kind"));
  reader.finish();
  return store;
}

Json store_json(const Store& store) {
  Json json = {{"name", store.name}};
  if (!store.host.empty()) json["host"] = store.host;
  json["kind"] = to_string(store.kind);
  return json;
}

}  // namespace hios
