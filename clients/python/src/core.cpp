// hone._core: the C++ client for Python. Knows nothing of verbs; hone/*.py gives them their types.
//
// No thread of the client's ever takes the interpreter's lock: answers are collected in C++, and
// Python waits for them (Ticket.wait) or is woken through a file descriptor (Completions). Every
// wait lets other threads run and looks for signals, so that Ctrl-C works.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <future>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

#include "hone/client.hpp"
#include "hone/version.h"
#include "interpreter.hpp"

namespace py = pybind11;

namespace {

using hone_python::wait_interruptibly;
using hone_python::without_lock;

constexpr std::size_t kDepthMax = 64;

py::object checked(PyObject* made) {
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(made);
}

/// The text as UTF-8. Half of a surrogate pair, which JSON can escape but UTF-8 cannot hold, becomes U+FFFD.
std::string from_text(const py::handle& text) {
  py::object sendable = py::reinterpret_borrow<py::object>(text);
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(sendable.ptr(), &size);
  if (data == nullptr) {
    if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError) == 0) throw py::error_already_set();
    PyErr_Clear();
    // Rationale: UTF-16 joins the halves of a pair that stand side by side.
    const py::object units =
        checked(PyUnicode_AsEncodedString(text.ptr(), "utf-16-le", "surrogatepass"));
    sendable = checked(PyUnicode_FromEncodedObject(units.ptr(), "utf-16-le", "replace"));
    data = PyUnicode_AsUTF8AndSize(sendable.ptr(), &size);
    if (data == nullptr) throw py::error_already_set();
  }
  return {data, static_cast<std::size_t>(size)};
}

/// Converts a caller's objects to Values. Errors name the member that cannot be sent.
class Sender {
 public:
  hone::Value to_value(const py::handle& object) {
    if (keys_.size() > kDepthMax) throw py::value_error(said("nested deeper than 64"));
    if (object.is_none()) return hone::Value();
    if (PyBool_Check(object.ptr())) return hone::Value(object.ptr() == Py_True);
    if (PyFloat_Check(object.ptr())) return hone::Value(PyFloat_AS_DOUBLE(object.ptr()));
    if (py::isinstance<py::str>(object)) return hone::Value(from_text(object));
    if (py::isinstance<py::bytes>(object)) return hone::Value::bytes(object.cast<std::string>());
    if (PyIndex_Check(object.ptr())) return integer(object);
    if (PyMapping_Check(object.ptr()) && py::hasattr(object, "items")) return map(object);
    if (PySequence_Check(object.ptr())) return array(object);
    if (PyNumber_Check(object.ptr())) {
      const double value = PyFloat_AsDouble(object.ptr());
      if (value == -1.0 && PyErr_Occurred() != nullptr) throw py::error_already_set();
      return hone::Value(value);
    }
    const auto type = py::str(py::type::handle_of(object).attr("__name__")).cast<std::string>();
    throw py::type_error(said("cannot send a " + type));
  }

 private:
  hone::Value integer(const py::handle& object) {
    const py::object number = checked(PyNumber_Index(object.ptr()));
    int beyond = 0;
    const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &beyond);
    if (value == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
    if (beyond == 0) return hone::Value(static_cast<std::int64_t>(value));
    throw py::value_error(said("found an integer " + std::string(beyond > 0 ? "above" : "below") +
                               " the range of int64, expected -2^63 to 2^63 - 1"));
  }

  hone::Value map(const py::handle& object) {
    hone::Value made = hone::Value::map();
    for (const py::handle item : object.attr("items")()) {
      const auto pair = item.cast<py::tuple>();
      if (!py::isinstance<py::str>(pair[0])) throw py::type_error(said("a map's keys must be str"));
      keys_.push_back(from_text(pair[0]));
      hone::Value value = to_value(pair[1]);
      made.set(keys_.back(), std::move(value));
      keys_.pop_back();
    }
    return made;
  }

  hone::Value array(const py::handle& object) {
    hone::Value made = hone::Value::array();
    for (const py::handle item : object) {
      keys_.push_back(std::to_string(made.as_array().size()));
      made.push(to_value(item));
      keys_.pop_back();
    }
    return made;
  }

  /// "options/stop_speedup: cannot send a set"
  std::string said(const std::string& what) const {
    std::string text;
    for (const std::string& key : keys_) text += (text.empty() ? "" : "/") + key;
    return text.empty() ? what : text + ": " + what;
  }

  std::vector<std::string> keys_;  // path to the member that is being converted
};

py::object to_text(const std::string& text) {
  // What a compiler printed need not be UTF-8; a strange byte must not cost the whole reply.
  PyObject* decoded =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (decoded == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(decoded);
}

py::object to_python(const hone::Value& value) {
  if (value.is_nil()) return py::none();
  if (value.is_bool()) return py::bool_(value.as_bool());
  if (value.is_int()) return py::int_(value.as_int());
  if (value.is_float()) return py::float_(value.as_double());
  if (value.is_string()) return to_text(value.as_string());
  if (value.is_bytes()) return py::bytes(value.as_bytes());
  if (value.is_array()) {
    py::list list;
    for (const auto& item : value.as_array()) list.append(to_python(item));
    return list;
  }
  py::dict dict;
  for (const auto& [key, item] : value.as_map()) dict[to_text(key)] = to_python(item);
  return dict;
}

py::tuple to_python(const hone::Failure& failure) {
  py::object after = py::none();
  if (failure.retry_after_s) after = py::float_(*failure.retry_after_s);
  return py::make_tuple(std::string(hone::code_name(failure.code)), failure.error_class,
                        to_text(failure.message), failure.retryable, after, to_text(failure.cause));
}

/// The tags of answers that have come, with a descriptor that is readable while there are some.
class Completions {
 public:
  Completions() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (fd_ < 0) throw std::runtime_error("eventfd failed");
  }
  ~Completions() { ::close(fd_); }
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;

  int fileno() const { return fd_; }

  void add(std::int64_t tag) {
    {
      std::lock_guard lock(mutex_);
      tags_.push_back(tag);
    }
    changed_.notify_all();
    const std::uint64_t one = 1;
    static_cast<void>(!::write(fd_, &one, sizeof one));
  }

  std::vector<std::int64_t> drain() {
    std::uint64_t count = 0;
    static_cast<void>(!::read(fd_, &count, sizeof count));
    std::lock_guard lock(mutex_);
    return std::exchange(tags_, {});
  }

  bool wait(double seconds) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::duration<double>(seconds),
                             [this] { return !tags_.empty(); });
  }

 private:
  int fd_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::int64_t> tags_;
};

/// One request under way. A step, reset or branch is cancelled when its ticket is dropped: a signal
/// handler may raise before the caller holds the ticket, and then nothing would read the answer.
class Ticket {
 public:
  Ticket(hone::Pending pending, const std::string& verb)
      : pending_(std::move(pending)),
        held_(verb == "step" || verb == "reset" || verb == "branch") {}
  Ticket(Ticket&& other) noexcept
      : pending_(other.pending_), held_(std::exchange(other.held_, false)) {}
  Ticket(const Ticket&) = delete;
  Ticket& operator=(Ticket&&) = delete;
  ~Ticket() {
    if (held_ && !pending_.done()) pending_.cancel();
  }

  bool wait(double seconds, bool or_progress) {
    return wait_interruptibly(seconds,
                              [&](double slice) { return pending_.wait(slice, or_progress); });
  }
  bool done() const { return pending_.done(); }
  void cancel() { pending_.cancel(); }
  py::list progress() {
    py::list list;
    for (const auto& body : pending_.take_progress()) list.append(to_python(body));
    return list;
  }
  /// (body, None) or (None, failure).
  py::tuple result() {
    wait(-1, false);
    const hone::Reply reply = pending_.take();
    if (reply.failure) return py::make_tuple(py::none(), to_python(*reply.failure));
    return py::make_tuple(to_python(reply.body), py::none());
  }

 private:
  hone::Pending pending_;
  bool held_;  // cancel it in the destructor
};

class Connection {
 public:
  Connection(const std::string& endpoint, const hone::ClientOptions& options)
      : endpoint_(endpoint) {
    using Connected = hone::Result<std::unique_ptr<hone::Client>>;
    auto promise = std::make_shared<std::promise<Connected>>();
    std::future<Connected> future = promise->get_future();
    // On its own thread, so that Ctrl-C need not wait for it.
    std::thread([promise, endpoint, options] {
      try {
        promise->set_value(hone::Client::connect(endpoint, options));
      } catch (const std::exception& error) {  // ZeroMQ's, without descriptors or memory
        promise->set_value(hone::unavailable(
            endpoint + ": " + error.what() +
            "; each connection needs about 10 descriptors (raise the limit with ulimit -n)"));
      }
    }).detach();
    wait_interruptibly(-1, [&](double slice) {
      return future.wait_for(std::chrono::duration<double>(slice)) == std::future_status::ready;
    });
    Connected connected = future.get();
    if (connected) {
      client_ = std::move(connected).value();
    } else {
      error_ = connected.error();
    }
  }

  ~Connection() { close(); }

  py::object failure() const {
    if (!error_) return py::none();
    return to_python(hone::Failure{
        error_->code, "infra", error_->message, hone::is_retryable(error_->code), {}});
  }

  const std::string& endpoint() const { return endpoint_; }
  std::string shown() const {
    if (closed()) return "closed connection to " + endpoint_;
    return "connection to " + endpoint_ + (served() ? " (serving)" : " (not serving)");
  }

  py::object hello() const { return client() ? to_python(client()->hello()) : py::none(); }

  bool served() const {
    const auto client = this->client();
    return client && client->is_served();
  }

  std::optional<std::pair<double, double>> server_wait() const {
    const auto client = this->client();
    const auto wait = client ? client->server_wait() : std::nullopt;
    if (!wait) return std::nullopt;
    return std::pair(wait->waited_s, wait->left_s);
  }

  /// `completions` gets the tag with the answer and, if `with_progress`, with each progress message.
  Ticket submit(const std::string& verb, const py::dict& body, std::optional<double> timeout,
                std::shared_ptr<Completions> completions, std::int64_t tag, bool with_progress) {
    const auto client = this->client();
    if (client == nullptr) throw std::runtime_error("the client is closed");
    hone::RequestOptions options;
    options.timeout_s = timeout;
    if (completions) {
      options.on_done = [completions = std::move(completions), tag] { completions->add(tag); };
      if (with_progress) options.on_progress = options.on_done;
    }
    hone::Value value = Sender().to_value(body);
    return without_lock(
        [&] { return Ticket(client->submit(verb, std::move(value), std::move(options)), verb); });
  }

  bool closed() const { return client() == nullptr; }

  void close() {
    std::shared_ptr<hone::Client> client;
    {
      std::lock_guard lock(mutex_);
      client = std::move(client_);
    }
    if (client == nullptr) return;
    without_lock([&] {
      client.reset();
      return true;
    });
  }

 private:
  std::shared_ptr<hone::Client> client() const {
    std::lock_guard lock(mutex_);
    return client_;
  }

  const std::string endpoint_;
  mutable std::mutex mutex_;
  std::shared_ptr<hone::Client> client_;
  std::optional<hone::Error> error_;
};

std::unique_ptr<Connection> make_connection(const std::string& endpoint, std::string name,
                                            double connect_timeout, double request_timeout,
                                            bool retry_busy, std::string control, std::string key,
                                            std::string server_key, double reconnect_timeout) {
  hone::ClientOptions options;
  options.name = std::move(name);
  options.connect_timeout_s = connect_timeout;
  options.request_timeout_s = request_timeout;
  options.retry_busy = retry_busy;
  options.control_endpoint = std::move(control);
  options.key_file = std::move(key);
  options.server_key = std::move(server_key);
  options.reconnect_timeout_s = reconnect_timeout;
  return std::make_unique<Connection>(endpoint, options);
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  module.doc() = "The C++ client of hone.";
  module.attr("__version__") = HONE_VERSION_STRING;

  py::class_<Completions, std::shared_ptr<Completions>>(module, "Completions")
      .def(py::init<>())
      .def("fileno", &Completions::fileno)
      .def("drain", &Completions::drain)
      .def(
          "wait",
          [](Completions& self, double seconds) {
            return wait_interruptibly(seconds, [&](double slice) { return self.wait(slice); });
          },
          py::arg("seconds"));

  py::class_<Ticket>(module, "Ticket")
      .def("wait", &Ticket::wait, py::arg("seconds") = -1.0, py::arg("or_progress") = false)
      .def("done", &Ticket::done)
      .def("cancel", &Ticket::cancel)
      .def("progress", &Ticket::progress)
      .def("result", &Ticket::result);

  py::class_<Connection>(module, "Connection")
      .def(py::init(&make_connection), py::arg("endpoint"), py::arg("name"),
           py::arg("connect_timeout"), py::arg("request_timeout"), py::arg("retry_busy"),
           py::arg("control"), py::arg("key") = "", py::arg("server_key") = "",
           py::arg("reconnect_timeout") = hone::ClientOptions().reconnect_timeout_s)
      .def("__repr__", &Connection::shown)
      .def_property_readonly("endpoint", &Connection::endpoint)
      .def_property_readonly("failure", &Connection::failure)
      .def_property_readonly("closed", &Connection::closed)
      .def_property_readonly("served", &Connection::served)
      .def_property_readonly("server_wait", &Connection::server_wait)
      .def("hello", &Connection::hello)
      .def("submit", &Connection::submit, py::arg("verb"), py::arg("body"),
           py::arg("timeout") = std::nullopt, py::arg("completions") = nullptr, py::arg("tag") = 0,
           py::arg("with_progress") = false)
      .def("close", &Connection::close);
}
