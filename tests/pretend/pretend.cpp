// Not a template: a backend of your own begins with plugins/template/backend.cpp (hone new backend).
// A backend of a third vendor: it has a language, a file suffix and a key of the configuration of its own, and pretends that
// the emulated device is its device.
//
// Its language has pretend_kernel and pretend_function, and neither __global__ nor __device__.
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "harness_texts.hpp"
#include "hone/plugin.hpp"

namespace {

using hone::plugin::Value;

constexpr char kName[] = "pretend", kLanguage[] = "pretendc";
constexpr char kEmulated[] = "backend_cuda_emulated.so";  // in the same folder
constexpr char kEmulatedLanguage[] = "cuda";

hone_backend_factory inner;

/// HONE_PRETEND_NODE: a device node to name, for a test of what hone allows.
Value device_nodes() {
  const char* node = std::getenv("HONE_PRETEND_NODE");
  return Value::array({node != nullptr ? node : "/dev/hone_pretend*"});
}

int32_t describe(hone_bytes config, hone_sink* out, hone_error* error) {
  return hone::plugin::guard(error, [&] {
    hone::plugin::from_msgpack(config);
    const Value banned = Value::map({{"type", "[str]"},
                                     {"default", Value::array()},
                                     {"doc", "words that a source may not contain"}});
    hone::plugin::write(
        out,
        Value::map(
            {{"summary", "a device that does not exist"},
             {"fingerprint", "pretend"},
             {"devices",
              Value::array({Value::map({{"index", 0}, {"name", "pretended"}, {"cores", 1}})})},
             {"languages", Value::array({kLanguage})},
             {"suffixes", Value::map({{kLanguage, ".pretend"}})},
             {"withholds", "stream"},
             {"parameters", Value::map({{"banned", banned}})},
             {"device_nodes", device_nodes()},
             {"driver_folders", Value::array({"/opt/pretend"})},
             {"harness", Value::map({{"kernels", k_harness}, {"known_answer", k_known_answer}})}}));
  });
}

void replace_all(std::string& text, const std::string& word, const std::string& by) {
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size()))
    text.replace(at, word.size(), by);
}

/// Why the source is refused, "" if it is not.
std::string refusal(const Value& source, const Value& options) {
  const std::string& text = source.at("text").as_string();
  const auto error_at = [&](const std::string& word, const std::string& why) {
    const auto line =
        std::count(text.begin(), text.begin() + static_cast<long>(text.find(word)), '\n');
    return source.at("name").as_string() + ":" + std::to_string(line + 1) + ":1: error: " + why +
           " '" + word + "'\n";
  };
  for (const char* word : {"__global__", "__device__"}) {
    if (text.find(word) != std::string::npos) return error_at(word, "unknown word");
  }
  const Value* banned = options.find("banned");  // a test of builds may leave it out
  for (const Value& word : banned != nullptr ? banned->as_array() : Value::Array()) {
    if (text.find(word.as_string()) != std::string::npos)
      return error_at(word.as_string(), "banned word");
  }
  return "";
}

Value refused(const std::string& diagnostics) {
  return Value::map({{"ok", false},
                     {"failure", "refused"},
                     {"diagnostics", diagnostics},
                     {"untrusted_host_code", false},
                     {"toolchain", "pretend 1"},
                     {"artifact", Value::bytes("")}});
}

int32_t build(const hone_host* host, hone_bytes request, hone_sink* out, hone_error* error) {
  std::string translated;
  bool done = false;
  const int32_t code = hone::plugin::guard(error, [&] {
    Value asked = hone::plugin::from_msgpack(request);
    const auto& sources = asked.at("sources").as_array();
    if (sources.size() != 1 || asked.at("language").as_string() != kLanguage) {
      hone::plugin::fail(HONE_INVALID_ARGUMENT, std::to_string(sources.size()) +
                                                    " sources in language '" +
                                                    asked.at("language").as_string() +
                                                    "', expected one in '" + kLanguage + "'");
    }
    Value source = sources[0];
    if (const std::string why = refusal(source, asked.at("options")); !why.empty()) {
      hone::plugin::write(out, refused(why));
      done = true;
      return;
    }
    std::string text = source.at("text").as_string();
    replace_all(text, "pretend_kernel", "extern \"C\" __global__");
    replace_all(text, "pretend_function", "__device__");
    source.set("text", text);
    asked.set("sources", Value::array({source}));
    asked.set("language", kEmulatedLanguage);
    hone::plugin::Packer(translated).pack(asked);
  });
  if (code != HONE_OK || done) return code;
  const auto* bytes = reinterpret_cast<const uint8_t*>(translated.data());
  return inner.build(host, {bytes, translated.size()}, out, error);
}

std::string folder_of_this_library() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&describe), &info) == 0) return ".";
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/'));
}

const hone_backend_factory* table() {
  static hone_backend_factory ours;
  void* library =
      dlopen((folder_of_this_library() + "/" + kEmulated).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  const auto* entry = static_cast<const hone_plugin*>(dlsym(library, "hone_plugin_entry"));
  inner = *static_cast<const hone_backend_factory*>(entry->get_factory(HONE_BACKEND_FACTORY_ID));
  ours = inner;
  ours.describe = describe;
  ours.build = build;
  ours.use_python = nullptr;
  return &ours;
}

const void* factory(const char* id) {
  static const hone_backend_factory* const made = table();
  return std::strcmp(id, HONE_BACKEND_FACTORY_ID) == 0 ? made : nullptr;
}

}  // namespace

HONE_EXPORT_PLUGIN(kName, "1.0.0", factory);
