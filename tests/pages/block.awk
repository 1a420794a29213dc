# SPDX-License-Identifier: MIT
# block.awk - print the block of a page whose first line is "```c NAME": awk -v name=NAME -f block.awk PAGE
#
# Several blocks of one name are the parts of one file.
/^```/ { on = ! on && $0 == "```c " name; next }
on
