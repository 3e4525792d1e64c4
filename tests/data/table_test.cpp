// SPDX-License-Identifier: Apache-2.0
// Data sets from the user's CSV and NPY files, good and bad.
#include <algorithm>
#include <cmath>
#include <set>

#include "base/file.hpp"
#include "config/toml.hpp"
#include "data/dataset.hpp"
#include "files.hpp"
#include "support/make_zip.hpp"

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
  const auto labels = set.labels().values.span<std::int64_t>();
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

std::vector<float> numbers_of(const Array& values) {
  return {values.span<float>().begin(), values.span<float>().end()};
}

}  // namespace

TEST_CASE("a csv file may have a header, text classes, and another separator") {
  const Folder folder;
  const Dataset plain = load_dataset("csv", at(folder.write("t.csv", ten_rows)));
  CHECK(plain.features().shape() == Shape{10, 2});
  CHECK(plain.labels().class_names == std::vector<std::string>{"a", "b"});
  CHECK(labels_of(plain) == std::vector<std::int64_t>{0, 1, 0, 1, 0, 1, 0, 1, 0, 1});
  CHECK(plain.features().span<float>()[19] == 11.0f);
  CHECK(plain.test.size() == 2);
  CHECK(plain.validation.size() == 1);
  CHECK(plain.train.size() == 7);
  CHECK(load_dataset("csv", at(folder.text())).sha256 == plain.sha256);  // a folder with one file

  const Dataset headed = load_dataset(
      "csv", at(folder.write("h.csv",
                             "Class;\"width, cm\";y\r\n10;1.5;2\r\n\r\n9;-1e-3;+4\r\n9;0;1\r\n"
                             "10;3;4\r\n10;3;5\r\n")));
  CHECK(headed.labels().class_names == std::vector<std::string>{"9", "10"});
  CHECK(labels_of(headed) == std::vector<std::int64_t>{1, 0, 0, 1, 1});
  CHECK(headed.features().span<float>()[2] == -1e-3f);
  CHECK(headed.features().span<float>()[3] == 4.0f);
}

TEST_CASE("quoted fields of a table may have separators, quotes and new lines") {
  const Folder folder;
  const Dataset set = load_dataset(
      "csv", at(folder.write("t.csv",
                             "a,\"kind, \"\"of\"\"\nthing\"\n\"1\",\"say \"\"x, y\"\"\"\r\n"
                             " 2 , \"two\nlines\" \n3,b\n4,b\n5,b")));
  CHECK(set.labels().class_names == std::vector<std::string>{"b", "say \"x, y\"", "two\nlines"});
  CHECK(labels_of(set) == std::vector<std::int64_t>{1, 2, 0, 0, 0});
  CHECK(set.features().span<float>()[1] == 2.0F);
}

TEST_CASE("missing cells get the value that is asked for, and the class is any column") {
  const Folder folder;
  DataOptions options = at(folder.write(
      "t.csv", "kind,a,ok,label\nx,1,true,\ny,NA,false,3\nx,nan,TRUE,4\nx,?,1,5\ny,2,0,null\n"));
  options.missing_value.numbers = {-1};
  options.label_column.names = {"Kind"};
  const Dataset set = load_dataset("csv", options);
  CHECK(set.labels().class_names == std::vector<std::string>{"x", "y"});
  const auto values = set.features().span<float>();
  CHECK(std::vector<float>(values.begin(), values.end()) ==
        std::vector<float>{1, 1, -1, -1, 0, 3, -1, 1, 4, -1, 1, 5, 2, 0, -1});
  options.label_column.names = {"1"};
  CHECK(load_dataset("csv", options).sha256 == set.sha256);
  options.label_column.names = {"knd"};
  CHECK_THAT(message_of(Fault::file, [&] { load_dataset("csv", options); }),
             Contains("no column 'knd'") && Contains("'kind'"));
}

TEST_CASE("columns of numbers are targets of a regression, one or side by side") {
  const Folder folder;
  DataOptions options =
      at(folder.write("t.csv", "a,price,b,area\n1,0.5,2,10\n3,-4,4,20\n5,1e3,6,30\n7,0,8,40\n"));
  options.task = TaskName{"regression"};
  Dataset set = load_dataset("csv", options);
  CHECK(set.labels().task == "regression");
  CHECK(numbers_of(set.labels().values) == std::vector<float>{10, 20, 30, 40});
  options.label_column.names = {"price"};
  set = load_dataset("csv", options);
  CHECK(set.labels().values.shape() == Shape{4});
  CHECK(numbers_of(set.labels().values) == std::vector<float>{0.5F, -4, 1000, 0});
  CHECK(numbers_of(set.features()) == std::vector<float>{1, 2, 10, 3, 4, 20, 5, 6, 30, 7, 8, 40});
  for (const auto& names : {std::vector<std::string>{"area", "price"}, {"area, price"}, {"4,2"}}) {
    options.label_column.names = names;
    set = load_dataset("csv", options);
    CHECK(set.labels().name == "y");
    CHECK(set.labels().values.shape() == Shape{4, 2});
    CHECK(numbers_of(set.labels().values) == std::vector<float>{10, 0.5F, 20, -4, 30, 1000, 40, 0});
    CHECK(numbers_of(set.features()) == std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  }
}

TEST_CASE("several columns are targets of their own, whose values or outputs say the task") {
  const Folder folder;
  DataOptions options = at(folder.write(
      "t.csv", "a,kind,size,grade\n1,x,0.5,3\n2,y,1,10\n3,x,2,3\n4,x,2.5,3\n5,y,1,10\n"));
  options.label_column.names = {"kind", "size", "grade"};
  Dataset set = load_dataset("csv", options);
  REQUIRE(set.targets.size() == 3);
  CHECK(set.targets[0].name == "y_kind");
  CHECK(set.targets[0].class_names == std::vector<std::string>{"x", "y"});
  CHECK(set.targets[1].name == "y_size");
  CHECK(set.targets[1].task == "regression");
  CHECK(numbers_of(set.targets[1].values) == std::vector<float>{0.5F, 1, 2, 2.5F, 1});
  CHECK(set.targets[2].class_names == std::vector<std::string>{"3", "10"});
  options.outputs["grade"].task = TaskName{"regression"};
  set = load_dataset("csv", options);
  CHECK(set.targets[2].task == "regression");
  CHECK(numbers_of(set.targets[2].values) == std::vector<float>{3, 10, 3, 3, 10});
}

TEST_CASE("flags of a table are 0 or 1, and bad targets are named by line and column") {
  const Folder folder;
  DataOptions options = at(folder.write("t.csv", "a,hot,wet\n1,0,true\n2,1,0\n3,1,1\n4,0,0\n"));
  options.task = TaskName{"multi_label"};
  options.label_column.names = {"hot", "wet"};
  CHECK(numbers_of(load_dataset("csv", options).labels().values) ==
        std::vector<float>{0, 1, 1, 0, 1, 1, 0, 0});
  const auto said = [&](Fault fault, const std::string& text, const std::string& task,
                        const std::vector<std::string>& names) {
    DataOptions bad = at(folder.write("t.csv", text));
    bad.task = TaskName{task};
    bad.label_column.names = names;
    return message_of(fault, [&] { load_dataset("csv", bad); });
  };
  CHECK_THAT(said(Fault::file, "a,hot,wet\n1,0,1\n2,0,2\n", "multi_label", {"hot", "wet"}),
             Contains("line 3, column 'wet': 2 is not a flag"));
  CHECK_THAT(said(Fault::file, "a,y\n1,0\n2,?\n", "regression", {"y"}),
             Contains("line 3, column 'y': the target is missing"));
  CHECK_THAT(said(Fault::file, "a,y\n1,0\n2,red\n", "regression", {"y"}),
             Contains("line 3, column 'y': 'red' is not a number"));
  CHECK_THAT(said(Fault::config, "a,y\n1,0\n2,1\n", "regression", {"y", "a"}),
             Contains("none is left for features"));
  CHECK_THAT(said(Fault::config, "a,y\n1,0\n2,1\n", "regression", {"y", "2"}),
             Contains("names column '2' twice"));
  CHECK_THAT(said(Fault::config, "a,y\n1,0\n2,1\n", "segmentation", {"y"}),
             Contains("no targets of task segmentation"));
}

TEST_CASE("each feature may have a number of its own for its missing cells") {
  const Folder folder;
  DataOptions options = at(folder.write("t.csv", "a,kind,b\n1,x,\n?,y,2\n3,x,NA\n,y,4\n5,x,5\n"));
  options.label_column.names = {"kind"};
  options.missing_value.numbers = {-1, 7.5};
  CHECK(numbers_of(load_dataset("csv", options).features()) ==
        std::vector<float>{1, 7.5F, -1, 2, 3, 7.5F, -1, 4, 5, 5});
  options.missing_value.numbers = {1, 2, 3};
  CHECK_THAT(message_of(Fault::config, [&] { load_dataset("csv", options); }),
             Contains("3 numbers") && Contains("the 2 features: a, b"));
}

TEST_CASE("columns and the numbers for missing cells are one value or a list") {
  const auto read = [](const std::string& text) {
    DataOptions options;
    Diagnostics diagnostics;
    read_fields(config::parse_toml(text, "x.toml"), options, diagnostics);
    diagnostics.throw_if_errors();
    return options;
  };
  DataOptions options = read("label_column = [\"a\", \"b, c\"]\nmissing_value = [1, -2.5]");
  CHECK(options.label_column.names == std::vector<std::string>{"a", "b, c"});
  CHECK(options.missing_value.numbers == std::vector<double>{1, -2.5});
  CHECK(read(config::to_toml(write_fields(options))).label_column.names ==
        options.label_column.names);
  options = read("label_column = \"a,b\"\nmissing_value = 3");
  CHECK(options.label_column.names == std::vector<std::string>{"a,b"});
  CHECK(options.missing_value.numbers == std::vector<double>{3});
  CHECK_FALSE(read("label_column = \"NA\"").label_column.is_set());
  CHECK_THAT(message_of(Fault::config, [&] { read("label_column = 3"); }),
             Contains("x.toml:1") && Contains("string or list of strings"));
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
             Contains("leave no row for training"));
}

TEST_CASE("bad csv files are refused with file, line and column") {
  CHECK_THAT(csv_error(""), Contains("t.csv") && Contains("empty"));
  CHECK_THAT(csv_error("a,b,class\n"), Contains("no rows"));
  CHECK_THAT(csv_error("a,b,class\n1,2,x\n1,nan,x\n"),
             Contains("line 3, column 'b'") && Contains("nan") && Contains("finite"));
  CHECK_THAT(csv_error("1,2,x\n-inf,2,x\n"), Contains("line 2, column 1") && Contains("-inf"));
  CHECK_THAT(csv_error("1,2,x\n1e99,2,x\n"), Contains("line 2, column 1") && Contains("float32"));
  CHECK_THAT(csv_error("1,2,x\n1,,x\n"), Contains("line 2, column 2") && Contains("missing_value"));
  CHECK_THAT(csv_error("1,2,x\n1,red,x\n"),
             Contains("column 2") && Contains("not a number") && Contains("get_dummies"));
  CHECK_THAT(csv_error("1;2;x\n1;0,5;x\n"), Contains("'0,5'") && Contains("with a point"));
  CHECK_THAT(csv_error("1,\"2,x\n1,2,x\n"), Contains("line 1") && Contains("never closed"));
  CHECK_THAT(csv_error("1,2,x\n1,\"2\"3,x\n"), Contains("line 2") && Contains("comes '3'"));
  CHECK_THAT(csv_error("1,2,x\n1,2\n"), Contains("line 2 has 2 fields"));
  CHECK_THAT(csv_error("1,2,x\n1,2,\n"), Contains("line 2") && Contains("class is missing"));
  CHECK_THAT(csv_error("a,a,class\n1,2,x\n"), Contains("two columns are called 'a'"));
  CHECK_THAT(csv_error("label,a,class\n1,2,x\n"), Contains("could be the class column"));
  CHECK_THAT(csv_error("x\ny\n"), Contains("at least one feature"));
  CHECK_THAT(csv_error(std::string("1,2\0,3", 6)), Contains("not a text file"));
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
  CHECK(set.features().shape() == Shape{50, 16});
  CHECK(labels_of(set)[3] == 3);
  const auto values = set.features().span<float>();
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

TEST_CASE("jets may be particles, whose features are standardised over all of them") {
  const Folder folder;
  Array x(DType::float32, {10, 4, 3}), y(DType::uint8, {10});
  const auto raw = x.mutable_span<float>();
  for (std::size_t i = 0; i < raw.size(); ++i) raw[i] = static_cast<float>(i % 3 * 100 + i % 7);
  y.mutable_span<std::uint8_t>()[1] = 4;
  write_npy(folder / "x.npy", x);
  write_npy(folder / "y.npy", y);
  const Dataset set = load_dataset("jsc", at(folder.text()));
  CHECK(set.sample_shape() == Shape{4, 3});
  CHECK(set.labels().class_names == std::vector<std::string>{"g", "q", "w", "z", "t"});
  CHECK(labels_of(set)[1] == 4);
  const Batch train = set.batch(set.train, 0, static_cast<std::int64_t>(set.train.size()));
  const auto values = train.inputs.front().span<float>();
  for (std::size_t feature = 0; feature < 3; ++feature) {
    double mean = 0, square = 0;
    for (std::size_t i = feature; i < values.size(); i += 3)
      mean += values[i], square += values[i] * values[i];
    CHECK(mean / static_cast<double>(values.size() / 3) == Approx(0.0).margin(1e-6));
    CHECK(square / static_cast<double>(values.size() / 3) == Approx(1.0).margin(1e-6));
  }
  write_npy(folder / "x.npy", Array(DType::float32, {10, 4, 2}));
  CHECK_THAT(message_of(Fault::file, [&] { load_dataset("jsc", at(folder.text())); }),
             Contains("[particles, 3]") && Contains("[4, 2]"));
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
  CHECK(set.labels().classes() == 3);
  std::vector<float> hot(30, 0.0f);
  for (std::size_t i = 0; i < 10; ++i) hot[i * 3 + i % 3] = 1.0f;
  write_npy(folder / "y.npy", Array::from(hot, {10, 3}));
  CHECK(load_dataset("npy", at(folder.text())).sha256 == set.sha256);
}

namespace {

/// The bytes of an .npy file.
std::string npy_bytes(const Folder& folder, const Array& array) {
  write_npy(folder / "bytes", array);
  return read_file(folder / "bytes");
}

Array counted(DType dtype, Shape shape) {
  Array array(dtype, std::move(shape));
  for (std::int64_t i = 0; i < array.size(); ++i)
    if (dtype == DType::int64)
      array.mutable_span<std::int64_t>()[static_cast<std::size_t>(i)] = (std::int64_t{1} << 40) + i;
    else
      array.mutable_span<float>()[static_cast<std::size_t>(i)] = static_cast<float>(i);
  return array;
}

std::vector<std::string> names_of(const Dataset& set) {
  std::vector<std::string> names;
  for (const InputColumn& input : set.inputs) names.push_back(input.name);
  return names;
}

}  // namespace

TEST_CASE("rows may have several inputs, and ids stay integers") {
  const Folder folder;
  const Array ids = counted(DType::int64, {10, 3}), mask = counted(DType::float32, {10, 2});
  write_npy(folder / "x_10.npy", mask);
  write_npy(folder / "x_2.npy", ids);
  write_npy(folder / "attention_mask.npy", mask);
  write_npy(folder / "y.npy", Array::from(std::vector<std::int64_t>(10, 1), {10}));
  Dataset set = load_dataset("npy", at(folder.text()));
  CHECK(names_of(set) == std::vector<std::string>{"x_2", "x_10", "attention_mask"});
  set.follow({"tokens", "attention_mask", "positions", "more"});
  CHECK(names_of(set) == std::vector<std::string>{"tokens", "attention_mask", "positions"});
  const Batch batch = set.batch(set.train, 1, 2);
  REQUIRE(batch.inputs.size() == 3);
  CHECK(batch.inputs[0].dtype() == DType::int64);
  for (std::int64_t i = 0; i < 2; ++i)
    CHECK(batch.inputs[0].rows(i, 1).same_bits(
        ids.rows(set.train[static_cast<std::size_t>(1 + i)], 1)));
  const std::string error = message_of(Fault::config, [&] { set.follow({"tokens", "mask", "c"}); });
  CHECK_THAT(error, Contains("no input 'attention_mask'"));
  CHECK_THAT(message_of(Fault::config, [&] { set.sample_shape(); }), Contains("3 inputs per row"));
}

TEST_CASE("what a model keeps begins every row, or a batch of so many rows, unless rows have it") {
  const Folder folder;
  write_npy(folder / "x.npy", counted(DType::float32, {10, 3}));
  write_npy(folder / "b.npy", counted(DType::float32, {10, 1}));
  write_npy(folder / "y.npy", Array::from(std::vector<std::int64_t>(10, 1), {10}));
  Dataset set = load_dataset("npy", at(folder.text()));
  const Array row = Array::from(std::vector<float>{5, 6}, {1, 2});
  const Array whole = Array::from(std::vector<float>{1, 2, 3}, {3, 1});
  set.follow({"x", "a", "b", "c"}, {{"a", row, true}, {"b", row, true}, {"c", whole, false, 2}});
  CHECK(names_of(set) == std::vector<std::string>{"x", "a", "b", "c"});
  const Batch batch = set.batch(set.train, 0, 2);
  CHECK(batch.inputs[1].same_bits(Array::from(std::vector<float>{5, 6, 5, 6}, {2, 2})));
  CHECK(batch.inputs[2].shape() == Shape{2, 1});  // the rows' own
  CHECK(batch.inputs[3].same_bits(whole));
  CHECK_THAT(message_of(Fault::config, [&] { set.batch(set.train, 0, 1); }),
             Contains("'c', which the model keeps") && Contains("[3, 1] for batches of 2 rows") &&
                 Contains("one has 1"));
}

TEST_CASE("an .npz archive is the same data set as its files") {
  const Folder files, archive;
  const Array ids = counted(DType::int64, {10, 3});
  const Array labels = Array::from(std::vector<std::int64_t>(10, 1), {10});
  write_npy(files / "x.npy", ids);
  write_npy(files / "y.npy", labels);
  archive.write("rows.npz", test_zip::zip_of({{"x.npy", npy_bytes(files, ids)},
                                              {"y.npy", npy_bytes(files, labels)}}));
  const Dataset set = load_dataset("npy", at(archive.text()));
  CHECK(set.sha256 == load_dataset("npy", at(files.text())).sha256);
  const auto error = [&] {
    return message_of(Fault::file, [&] { load_dataset("npy", at(archive.text())); });
  };
  write_npy(archive / "x.npy", ids);
  CHECK_THAT(error(), Contains("rows.npz") && Contains("x.npy"));
  std::filesystem::remove(archive / "x.npy");
  archive.write("rows.npz", test_zip::zip_of({{"readme.txt", "hello"}}));
  CHECK_THAT(error(), Contains("readme.txt") && Contains("numpy.savez"));
  archive.write("rows.npz", test_zip::zip_of({{"y.npy", npy_bytes(files, labels)}}));
  CHECK_THAT(error(), Contains("no input besides y"));
}

TEST_CASE("rows of float32 and of integers stay in their files") {
  const Folder folder;
  const Array values = counted(DType::float32, {10, 3}), ids = counted(DType::int64, {10, 2});
  write_npy(folder / "x_0.npy", values);
  write_npy(folder / "x_1.npy", ids);
  const Dataset set = load_dataset("npy", at(folder.text()));
  for (const InputColumn& input : set.inputs) CHECK(input.values.file());
  const Batch batch = set.batch({7, 2}, 0, 2);
  CHECK(batch.inputs[0].rows(0, 1).same_bits(values.rows(7, 1)));
  CHECK(batch.inputs[1].rows(1, 1).same_bits(ids.rows(2, 1)));
  std::filesystem::resize_file(folder / "x_1.npy", 200);
  CHECK_THAT(message_of(Fault::file, [&] { set.batch({0}, 0, 1); }),
             Contains("x_1.npy") && Contains("now has 200"));
}

TEST_CASE("the first value that is not finite is found wherever it is") {
  const Folder folder;
  Array values(DType::float32, {5, 5000001});  // more than one piece of a mapped file
  for (const std::size_t at_value : {std::size_t{24999999}, std::size_t{5000002}}) {
    values.mutable_span<float>()[at_value] = INFINITY;
    write_npy(folder / "x.npy", values);
    CHECK_THAT(message_of(Fault::file, [&] { load_dataset("npy", at(folder.text())); }),
               Contains("x.npy: row " + std::to_string(at_value / 5000001) + ", column " +
                        std::to_string(at_value % 5000001)) &&
                   Contains("is inf"));
  }
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
  CHECK_THAT(error(), Contains("has 2 rows, but") && Contains("has 10"));
  write_npy(folder / "y.npy",
            Array::from(std::vector<std::int64_t>{0, 1, 0, 1, -1, 1, 0, 1, 0, 1}, {10}));
  CHECK_THAT(error(), Contains("y.npy") && Contains("label -1 of row 4 is out of range"));
  write_npy(folder / "y.npy",
            Array::from(std::vector<float>{0, 1, 0, 0.5f, 1, 1, 0, 1, 0, 1}, {10}));
  CHECK_THAT(error(), Contains("row 3 is not a class index"));
  write_npy(folder / "y.npy", Array::from(y, {10}));
  x[13] = std::nanf("");
  write_npy(folder / "x.npy", Array::from(x, {10, 2}));
  CHECK_THAT(error(), Contains("x.npy") && Contains("row 6, column 1") && Contains("nan"));
  folder.write("x.npy", "\x93NUMPY");
  CHECK_THAT(error(), Contains("x.npy"));
}
