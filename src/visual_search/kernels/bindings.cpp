#include <nanobind/nanobind.h>

NB_MODULE(_compiled, module) {
    module.def("answer", [] { return 42; });
}
