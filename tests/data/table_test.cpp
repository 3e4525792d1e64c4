// SPDX-License-Identifier: Apache-2.0
// Data sets from the user's CSV and NPY files, good and bad.
#include <algorithm>
#include <cmath>
#include <set>

#include "data/dataset.hpp"
#include "files.hpp"

using namespace mase;
using namespace mase::data;
using Catch::Contains;
using mase::test::Folder;
using mase::test::message_of;

namespace {

DataOptions at(const std::string& path) {
  DataOptions options;
  options.data_dir = path;
  return options;
}

std::string csv_error(const std::string& text) {
  const Folder folder;
  return message_of(Fault::file, [&] { load_dataset("csv", at(folder.write("t.csv", text))); });
}

std::vector<std::int64_t> labels_of(const Dataset& set) {
  const auto labels = set.labels.span<std::int64_t>();
  return {labels.begin(), labels.end()};
}

const std::string ten_rows =
    "1,2,a\n2,3,b\n3,4,a\n4,5,b\n5,6,a\n6,7,b\n7,8,a\n8,9,b\n9,10,a\n10,11,b\n";

std::string jsc_header() {
  return "j_zlogz,j_c1_b0_mmdt,j_c1_b1_mmdt,j_c1_b2_mmdt,j_c2_b1_mmdt,j_c2_b2_mmdt,j_d2_b1_mmdt,"
         "j_d2_b2_mmdt,j_d2_a1_b1_mmdt,j_d2_a1_b2_mmdt,j_m2_b1_mmdt,j_m2_b2_mmdt,j_n2_b1_mmdt,"
         "j_n2_b2_mmdt,j_mass_mmdt,j_multiplicity";
}

/// Feature c of row r is 100 c + r, and 7 in the last column.
std::string jsc_features(int row) {
  std::string text;
  for (int c = 0; c < 15; ++c) text += std::to_string(100 * c + row) + ",";
  return text + "7";
}

}  // namespace

TEST_CASE("a csv file may have a header, text classes, and another separator") {
  const Folder folder;
  const Dataset plain = load_dataset("csv", at(folder.write("t.csv", ten_rows)));
  CHECK(plain.inputs.shape() == Shape{10, 2});
  CHECK(plain.class_names == std::vector<std::string>{"a", "b"});
  CHECK(labels_of(plain) == std::vector<std::int64_t>{0, 1, 0, 1, 0, 1, 0, 1, 0, 1});
  CHECK(plain.inputs.span<float>()[19] == 11.0f);
  CHECK(plain.test.size() == 2);
  CHECK(plain.validation.size() == 1);
  CHECK(plain.train.size() == 7);
  CHECK(load_dataset("csv", at(folder.text())).sha256 == plain.sha256);  // a folder with one file

  const Dataset headed = load_dataset(
      "csv", at(folder.write("h.csv",
                             "Class;\"width, cm\";y\r\n10;1.5;2\r\n\r\n9;-1e-3;+4\r\n9;0;1\r\n"
                             "10;3;4\r\n10;3;5\r\n")));
  CHECK(headed.class_names == std::vector<std::string>{"9", "10"});
  CHECK(labels_of(headed) == std::vector<std::int64_t>{1, 0, 0, 1, 1});
  CHECK(headed.inputs.span<float>()[2] == -1e-3f);
  CHECK(headed.inputs.span<float>()[3] == 4.0f);
}

TEST_CASE("random splits follow their seed and shares") {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 100; ++i) text += std::to_string(i) + ",1," + std::to_string(i % 3) + "\n";
  DataOptions options = at(folder.write("t.csv", text));
  options.validation_share = 0.25;
  options.test_share = 0.5;
  const Dataset first = load_dataset("csv", options);
  CHECK(first.train.size() == 25);
  CHECK(first.validation.size() == 25);
  CHECK(first.test.size() == 50);
  CHECK(load_dataset("csv", options).sha256 == first.sha256);
  options.seed = 1;
  const Dataset second = load_dataset("csv", options);
  CHECK(second.train != first.train);
  CHECK(second.sha256 != first.sha256);
  std::set<std::int64_t> seen;
  for (const auto* part : {&second.train, &second.validation, &second.test})
    for (std::int64_t row : *part) CHECK(seen.insert(row).second);
  CHECK(seen.size() == 100);
  options.validation_share = options.test_share = 0.5;
  CHECK_THAT(message_of(Fault::config, [&] { load_dataset("csv", options); }),
             Contains("leave none for training"));
}

TEST_CASE("bad csv files are refused with file, line and column") {
  CHECK_THAT(csv_error(""), Contains("t.csv") && Contains("empty"));
  CHECK_THAT(csv_error("a,b,class\n"), Contains("no rows"));
  CHECK_THAT(csv_error("a,b,class\n1,2,x\n1,nan,x\n"),
             Contains("line 3, column 'b'") && Contains("nan") && Contains("finite"));
  CHECK_THAT(csv_error("1,2,x\n-inf,2,x\n"), Contains("line 2, column 1") && Contains("-inf"));
  CHECK_THAT(csv_error("1,2,x\n1e99,2,x\n"), Contains("line 2, column 1") && Contains("float32"));
  CHECK_THAT(csv_error("1,2,x\n1,,x\n"), Contains("line 2, column 2") && Contains("no number"));
  CHECK_THAT(csv_error("1,2,x\n1,2\n"), Contains("line 2 has 2 fields"));
  CHECK_THAT(csv_error("1,2,x\n1,2,\n"), Contains("line 2") && Contains("class is missing"));
  CHECK_THAT(csv_error("a,a,class\n1,2,x\n"), Contains("two columns are called 'a'"));
  CHECK_THAT(csv_error("label,a,class\n1,2,x\n"), Contains("could be the class column"));
  CHECK_THAT(csv_error("x\ny\n"), Contains("at least one feature"));
  CHECK_THAT(csv_error(std::string("1,2\0,3", 6)), Contains("no text file"));
  std::string many;
  for (int i = 0; i < 1001; ++i) many += "1," + std::to_string(i) + ".5\n";
  CHECK_THAT(csv_error(many), Contains("1000 different values"));
}

TEST_CASE("a folder must have exactly one csv file") {
  const Folder folder;
  CHECK_THAT(message_of(Fault::file, [&] { load_dataset("csv", at(folder.text())); }),
             Contains("no .csv file"));
  folder.write("a.csv", ten_rows);
  folder.write("b.csv", ten_rows);
  CHECK_THAT(message_of(Fault::file, [&] { load_dataset("csv", at(folder.text())); }),
             Contains("a.csv") && Contains("b.csv"));
  CHECK_THAT(message_of(Fault::file, [&] { load_dataset("csv", at(folder / "gone")); }),
             Contains("no such file"));
}

TEST_CASE("the full jsc set is read by column name and standardised over its train part") {
  const Folder folder;
  std::string text = "index," + jsc_header() + ",label\n";
  const char* classes = "gqtwz";
  for (int i = 0; i < 50; ++i)
    text += std::to_string(i) + "," + jsc_features(i) + "," + classes[i % 5] + "\n";
  const Dataset set = load_dataset("jsc", at(folder.write("jets.csv", text)));
  CHECK(set.inputs.shape() == Shape{50, 16});
  CHECK(labels_of(set)[3] == 3);
  const auto values = set.inputs.span<float>();
  for (std::size_t column = 0; column < 16; ++column) {
    double mean = 0, square = 0;
    for (std::int64_t row : set.train) {
      const double value = values[static_cast<std::size_t>(row) * 16 + column];
      mean += value / static_cast<double>(set.train.size());
      square += value * value / static_cast<double>(set.train.size());
    }
    CHECK(mean == Approx(0.0).margin(1e-6));
    CHECK(square == Approx(column == 15 ? 0.0 : 1.0).margin(1e-6));  // column 15 is constant
  }
}

TEST_CASE("the full jsc set may have one-hot classes or no header") {
  const Folder folder;
  std::string hot = jsc_header() + ",j_g,j_q,j_w,j_z,j_t\n", bare;
  for (int i = 0; i < 10; ++i) {
    hot += jsc_features(i) + (i % 2 ? ",0,0,0,0,1\n" : ",0,0,1,0,0\n");
    bare += jsc_features(i) + (i % 2 ? ",2\n" : ",3\n");
  }
  const Dataset one = load_dataset("jsc", at(folder.write("hot.csv", hot)));
  const Dataset two = load_dataset("jsc", at(folder.write("bare.csv", bare)));
  CHECK(labels_of(one) == std::vector<std::int64_t>{3, 2, 3, 2, 3, 2, 3, 2, 3, 2});
  CHECK(one.sha256 == two.sha256);
}

TEST_CASE("bad jsc files are refused") {
  const Folder folder;
  const auto error = [&](const std::string& text) {
    return message_of(Fault::file,
                      [&] { load_dataset("jsc", at(folder.write("jets.csv", text))); });
  };
  CHECK_THAT(error("zlogz,label\n1,g\n"), Contains("missing") && Contains("mass_mmdt"));
  CHECK_THAT(error(jsc_features(1) + ",5\n"), Contains("line 1") && Contains("out of range"));
  CHECK_THAT(error(jsc_header() + ",g,q,t,w,z\n" + jsc_features(1) + ",0,1,1,0,0\n"),
             Contains("one-hot"));
}

TEST_CASE("npy pairs take indices of any dtype or one-hot labels") {
  const Folder folder;
  std::vector<float> x(40);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  write_npy(folder / "x.npy", Array::from(x, {10, 2, 2}));
  write_npy(folder / "y.npy",
            Array::from(std::vector<std::uint8_t>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0}, {10}));
  const Dataset set = load_dataset("npy", at(folder.text()));
  CHECK(set.sample_shape() == Shape{2, 2});
  CHECK(set.classes() == 3);
  std::vector<float> hot(30, 0.0f);
  for (std::size_t i = 0; i < 10; ++i) hot[i * 3 + i % 3] = 1.0f;
  write_npy(folder / "y.npy", Array::from(hot, {10, 3}));
  CHECK(load_dataset("npy", at(folder.text())).sha256 == set.sha256);
}

TEST_CASE("bad npy pairs are refused") {
  const Folder folder;
  const auto error = [&] {
    return message_of(Fault::file, [&] { load_dataset("npy", at(folder.text())); });
  };
  std::vector<float> x(20, 1.0f);
  const std::vector<std::int64_t> y{0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
  CHECK_THAT(error(), Contains("x.npy"));
  write_npy(folder / "x.npy", Array::from(x, {10, 2}));
  write_npy(folder / "y.npy", Array::from(std::vector<std::int64_t>{0, 1}, {2}));
  CHECK_THAT(error(), Contains("2 labels for 10 rows"));
  write_npy(folder / "y.npy",
            Array::from(std::vector<std::int64_t>{0, 1, 0, 1, -1, 1, 0, 1, 0, 1}, {10}));
  CHECK_THAT(error(), Contains("y.npy") && Contains("label -1 of row 4 is out of range"));
  write_npy(folder / "y.npy",
            Array::from(std::vector<float>{0, 1, 0, 0.5f, 1, 1, 0, 1, 0, 1}, {10}));
  CHECK_THAT(error(), Contains("row 3 is no class index"));
  write_npy(folder / "y.npy", Array::from(y, {10}));
  x[13] = std::nanf("");
  write_npy(folder / "x.npy", Array::from(x, {10, 2}));
  CHECK_THAT(error(), Contains("x.npy") && Contains("row 6, column 1") && Contains("nan"));
  folder.write("x.npy", "\x93NUMPY");
  CHECK_THAT(error(), Contains("x.npy"));
}
