// SPDX-License-Identifier: Apache-2.0
// c10d includes this header, and needs nothing of it.
#pragma once
