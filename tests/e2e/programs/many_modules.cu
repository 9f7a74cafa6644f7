// A program of several translation units, each a module of its own: the sorts of five types.
// expect: none
// result: 0 wrong
#include <cstdio>

int count_wrong_short();
int count_wrong_int();
int count_wrong_long();
int count_wrong_float();
int count_wrong_double();

int main() {
  const int wrong = count_wrong_short() + count_wrong_int() + count_wrong_long() +
                    count_wrong_float() + count_wrong_double();
  std::printf("%d wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
