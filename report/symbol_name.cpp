#include "report/symbol_name.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "report/python_name.h"

namespace barracuda::report {

namespace {

// "[abi:cxx11]": of the C++ ABI, not of the program's names. Some compilers (numba) put a hash of
// their options there.
std::string without_abi_tags(std::string name) {
  constexpr std::string_view kTag = "[abi:";
  for (std::size_t begin = name.find(kTag); begin != std::string::npos;
       begin = name.find(kTag, begin)) {
    const std::size_t end = name.find(']', begin);
    name.erase(begin, end == std::string::npos ? end : end + 1 - begin);
  }
  return name;
}

bool stands_at(std::string_view name, std::size_t at, std::string_view word) {
  return name.substr(at).starts_with(word);
}

// Where the operator's name ends that begins at `at`: its brackets are none.
std::size_t end_of_operator(std::string_view name, std::size_t at) {
  constexpr std::string_view kOperators[] = {
      "<<=", ">>=", "<=>", "->*", "<<", ">>", "<=", ">=", "->", "()", "[]", "<", ">"};
  at += std::string_view("operator").size();
  for (const std::string_view symbol : kOperators) {
    if (stands_at(name, at, symbol)) {
      return at + symbol.size();
    }
  }
  return at;
}

// Calls `visit(begin, end, depth)` for each piece of the name: a bracket, whose depth is that of
// what it encloses, an operator's name, or one character.
template <typename Visitor>
void visit_pieces(std::string_view name, const Visitor& visit) {
  int depth = 0;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = at + 1;
    if (stands_at(name, at, "operator") &&
        (at == 0 || name[at - 1] == ':' || name[at - 1] == ' ')) {
      end = end_of_operator(name, at);
    }
    const bool is_bracket = end == at + 1;
    const bool opens = is_bracket && std::string_view("<([{").find(name[at]) != name.npos;
    const bool closes = is_bracket && std::string_view(">)]}").find(name[at]) != name.npos;
    depth += opens ? 1 : 0;
    visit(at, end, depth);
    depth -= closes ? 1 : 0;
    at = end;
  }
}

std::string without_template_arguments(const std::string& name) {
  std::string text;
  int angles = 0;
  visit_pieces(name, [&](std::size_t begin, std::size_t end, int /*depth*/) {
    const bool is_single = end == begin + 1;
    angles += is_single && name[begin] == '<' ? 1 : 0;
    if (angles == 0) {
      text.append(name, begin, end - begin);
    }
    angles -= is_single && name[begin] == '>' && angles > 0 ? 1 : 0;
  });
  return text;
}

// What people seldom write themselves, behind other arguments.
bool is_default_argument(std::string_view argument) {
  constexpr std::string_view kDefaults[] = {"std::allocator<", "std::char_traits<",
                                            "std::less<",      "std::hash<",
                                            "std::equal_to<",  "std::default_delete<"};
  return std::ranges::any_of(
      kDefaults, [argument](std::string_view prefix) { return argument.starts_with(prefix); });
}

std::string simple(std::string_view name);

std::vector<std::string_view> split_arguments(std::string_view list) {
  std::vector<std::string_view> arguments;
  std::size_t begin = 0;
  const auto add = [&](std::size_t end) {
    std::string_view argument = list.substr(begin, end - begin);
    argument.remove_prefix(std::min(argument.find_first_not_of(' '), argument.size()));
    argument = argument.substr(0, argument.find_last_not_of(' ') + 1);
    if (!argument.empty()) {
      arguments.push_back(argument);
    }
    begin = end + 1;
  };
  visit_pieces(list, [&](std::size_t at, std::size_t end, int depth) {
    if (depth == 0 && end == at + 1 && list[at] == ',') {
      add(at);
    }
  });
  add(list.size());
  return arguments;
}

// "<int, …>": as many arguments as there is room for.
std::string simple_arguments(std::string_view list) {
  constexpr std::size_t kRoom = 40;
  std::string text = "<";
  const std::vector<std::string_view> arguments = split_arguments(list);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (i != 0 && is_default_argument(arguments[i])) {
      continue;
    }
    const auto fits = [&text](const std::string& argument) {
      return text.size() + argument.size() <= kRoom;
    };
    std::string argument = simple(arguments[i]);
    if (const std::size_t list_begin = argument.find('<');
        !fits(argument) && list_begin != argument.npos) {
      argument = argument.substr(0, list_begin) + "<…>";
    }
    const bool is_shown = fits(argument);
    text += i == 0 ? "" : ", ";
    text += is_shown ? argument : "…";
    if (!is_shown) {
      break;
    }
  }
  return text + ">";
}

std::string simple(std::string_view name) {
  std::string text;
  std::size_t open = name.npos;
  int depth_of_list = 0;
  visit_pieces(name, [&](std::size_t begin, std::size_t end, int depth) {
    const bool is_single = end == begin + 1;
    if (open == name.npos && is_single && name[begin] == '<') {
      open = begin;
      depth_of_list = depth;
    } else if (open == name.npos) {
      text += name.substr(begin, end - begin);
    } else if (is_single && name[begin] == '>' && depth == depth_of_list) {
      text += simple_arguments(name.substr(open + 1, begin - open - 1));
      open = name.npos;
    }
  });
  // A list without its end is no list.
  return open == name.npos ? text : text + std::string(name.substr(open));
}

// "_INTERNAL_7f3a_6_app_cu_91::", "_GLOBAL__N__7f3a_6_app_cu_91::": they hold hashes of paths.
std::string without_made_up_names(std::string name) {
  for (const std::string_view made_up : {"_INTERNAL_", "_GLOBAL__N_"}) {
    for (std::size_t at = name.find(made_up); at != std::string::npos;
         at = name.find(made_up, at)) {
      const std::size_t end = name.find("::", at);
      name.erase(at, end == std::string::npos ? end : end + 2 - at);
    }
  }
  return name;
}

// "__nv_static_26__d4b68a55_5_sum_cu_08ab30e5__Z3sumPi": what -rdc=true makes of a static kernel.
std::string_view without_static_prefix(std::string_view name) {
  const std::size_t mangled = name.starts_with("__nv_static_") ? name.rfind("__Z") : 0;
  return mangled == 0 || mangled == name.npos ? name : name.substr(mangled + 1);
}

}  // namespace

std::string demangle(const std::string& name) {
  const std::string mangled(without_static_prefix(name));
  if (!mangled.starts_with("_Z")) {
    return name;
  }
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? without_made_up_names(without_abi_tags(text.get())) : name;
}

std::string without_parameters(const std::string& name) {
  if (!name.ends_with(")")) {
    return name;
  }
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')') {
      ++depth;
    } else if (name[i] == '(' && --depth == 0) {
      return i == 0 ? name : name.substr(0, i);
    }
  }
  return name;
}

std::string without_return_type(const std::string& name) {
  std::size_t begin = 0;  // behind the last blank before the parameters
  bool is_over = false;
  visit_pieces(name, [&](std::size_t at, std::size_t end, int depth) {
    // "operator bool": what follows belongs to the name. "(anonymous namespace)" is none of the
    // parameters, and neither is what is called in "f(int)::g(int)".
    is_over = is_over || end > at + 1 || stands_at(name, at, "operator ") ||
              (depth == 1 && name[at] == '(' && !stands_at(name, at, "(anonymous namespace)"));
    if (!is_over && depth == 0 && name[at] == ' ') {
      begin = end;
    }
  });
  return name.substr(begin);
}

std::string template_name(const std::string& name) {
  const std::string plain = without_made_up_names(without_return_type(name));
  const std::string shared = without_template_arguments(plain);
  return shared == plain ? plain : without_parameters(shared);
}

std::string simple_name(const std::string& name) {
  if (is_numba_name(name)) {
    return python_name(name);
  }
  constexpr std::size_t kLong = 80;
  return name.size() <= kLong ? name : simple(name);
}

std::string variable_name(const std::string& name) {
  const std::string whole = name.substr(0, name.size() - part_of_variable(name).size());
  const std::string plain = without_template_arguments(demangle(whole));
  const std::size_t colons = plain.rfind("::");
  return colons == std::string::npos ? plain : plain.substr(colons + 2);
}

std::string_view part_of_variable(std::string_view name) {
  const std::size_t at = name.find(kPartMark);
  const bool is_part =
      at != 0 && at != name.npos && name.find_first_not_of("_$0123456789", at) == name.npos;
  return is_part ? name.substr(at) : std::string_view();
}

std::string last_name(const std::string& name) {
  const std::string plain =
      without_parameters(without_template_arguments(without_return_type(name)));
  const std::size_t colons = plain.rfind("::");
  return colons == std::string::npos ? plain : plain.substr(colons + 2);
}

}  // namespace barracuda::report
