// SPDX-License-Identifier: Apache-2.0
// The figures that tell how well outputs meet targets.
#pragma once

#include <string_view>

namespace mase::data {

/// A figure of one or several tasks.
struct FigureRow {
  std::string_view name;
  std::string_view doc;
  bool more_is_better = false;
  bool is_share = false;  ///< shown in percent
  bool is_brief = true;   ///< shown in the line of an epoch
  int digits = 4;         ///< after the point
};

namespace figures {

inline constexpr FigureRow loss{"loss", "training loss, without label smoothing and class weights"};
inline constexpr FigureRow perplexity{
    "perplexity", "exp(loss), for next-token models", false, false, true, 3};
inline constexpr FigureRow accuracy{
    "accuracy", "share of rows (positions, pixels, labels) predicted correctly", true, true, true,
    2};
inline constexpr FigureRow macro_accuracy{
    "macro_accuracy", "mean recall over the classes", true, true, false, 2};
inline constexpr FigureRow miou{
    "miou", "mean over the classes of intersection / union", true, true, true, 2};
inline constexpr FigureRow exact{
    "exact", "share of rows whose labels are all right", true, true, false, 2};
inline constexpr FigureRow precision{
    "precision", "share of predicted labels that are right", true, true, false, 2};
inline constexpr FigureRow recall{"recall", "share of labels that are predicted", true, true, false,
                                  2};
inline constexpr FigureRow f1{
    "f1", "harmonic mean of precision and recall over all labels", true, true, true, 2};
inline constexpr FigureRow mse{"mse", "mean squared error", false, false, false, 6};
inline constexpr FigureRow rmse{"rmse", "root of the mean squared error", false, false, false, 6};
inline constexpr FigureRow mae{"mae", "mean absolute error", false, false, true, 6};
inline constexpr FigureRow r2{"r2", "share of the targets' variance that is explained", true};
inline constexpr FigureRow worst{"worst", "largest absolute error", false, false, false, 6};
inline constexpr FigureRow agreement{
    "agreement", "share of rows whose largest output is the teacher's", true, true, true, 2};
inline constexpr FigureRow difference{
    "difference", "root of the mean squared difference from the teacher", false, false, true, 6};

}  // namespace figures
}  // namespace mase::data
