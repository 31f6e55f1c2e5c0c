#include "python/module/errors.h"

#include <exception>

#include "hios/base/error.h"

namespace hios::python {
namespace nb = nanobind;

void translate_errors() {
  nb::register_exception_translator(
      [](const std::exception_ptr& pointer, void*) {
        try {
          std::rethrow_exception(pointer);
        } catch (const Error& error) {
          const bool input = error.code() == ExitCode::kBadInput;
          const nb::object type =
              nb::module_::import_("hios.errors").attr(input ? "InputError" : "HiosError");
          PyErr_SetString(type.ptr(), error.what());
        }
      },
      nullptr);
}

}  // namespace hios::python
