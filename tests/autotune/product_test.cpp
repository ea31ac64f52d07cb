// Generated sources: every choice has a different one, and only matrix products are supported.
#include "autotune/product.hpp"

#include <set>

#include "autotune/product_task.hpp"

namespace hone::autotune {
namespace {

using test::product_task;

TEST(Product, EveryChoice_HasASourceOfItsOwn) {
  Task task = product_task();
  task.entry = "my_product";
  std::set<std::string> sources;
  for (std::int64_t i = 0; i < space_size(); ++i) {
    sources.insert(source_of(*Choice::from_index(i), task));
  }
  EXPECT_EQ(sources.size(), 648u);
  const std::string source = source_of(*Choice::from_index(647), task);
  EXPECT_NE(source.find("extern \"C\" void my_product("), std::string::npos);
  EXPECT_NE(source.find("constexpr int64_t kTileM = 256;"), std::string::npos);
  EXPECT_NE(source.find("constexpr bool kPacked = true;"), std::string::npos);
  EXPECT_EQ(source.find("ENTRY"), std::string::npos);
  EXPECT_EQ(source.find("CONSTANTS"), std::string::npos);
}

TEST(Product, MatrixProduct_CountsMultiplicationsAndAdditions) {
  EXPECT_DOUBLE_EQ(flops_of(product_task()), 2.0 * 300 * 200 * 100);
}

TEST(Product, OtherTask_IsRefused) {
  EXPECT_TRUE(check_product(product_task(), "cpu").ok());
  EXPECT_EQ(check_product(test::small_task(), "cpu").error().message,
            "the task 'add_relu' is not a matrix product of floats in C++: expected "
            "entry(a, b, c, m, n, k)");
  EXPECT_FALSE(check_product(product_task(), "cuda").ok());
  Task task = product_task();
  task.backends["cpu"].languages = {"c"};
  EXPECT_FALSE(check_product(task, "cpu").ok());
  task = product_task();
  task.tensors[1].shape = {"n", "k"};  // b is transposed
  EXPECT_FALSE(check_product(task, "cpu").ok());
  task = product_task();
  task.tensors[0].dtype = DType::kF64;
  EXPECT_FALSE(check_product(task, "cpu").ok());
  task = product_task();
  std::swap(task.arguments[3], task.arguments[4]);  // its m would be our n
  EXPECT_FALSE(check_product(task, "cpu").ok());
}

}  // namespace
}  // namespace hone::autotune
