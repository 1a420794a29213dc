/* SPDX-License-Identifier: MIT */
/* ops_layout.c - make tensors of every layout */
#include "ops_reference.h"

size_t ops_lay_out(struct op_tensor *t, enum ops_layout layout)
{
	static const int row_major[] = {3, 2, 1, 0};
	static const int column_major[] = {2, 3, 1, 0};
	const int *order = layout == OPS_COLUMN_MAJOR ? column_major : row_major;
	int64_t step = layout == OPS_PADDED ? 2 : 1;
	int64_t last = 0;

	for (int i = 0; i < 4; i++) {
		const int d = order[i];
		const bool repeat = (layout == OPS_REPEAT_ROW && d != 3) ||
				    (layout == OPS_REPEAT_COLUMN && d == 3);

		t->stride[d] = repeat ? 0 : step;
		if (!repeat)
			step = step * t->dim[d] + (layout == OPS_PADDED ? 3 : 0);
	}
	for (int d = 0; d < 4; d++) {
		if (t->dim[d] == 0)
			return 0;
		last += (t->dim[d] - 1) * t->stride[d];
	}
	return (size_t)last + 1;
}
