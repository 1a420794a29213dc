# SPDX-License-Identifier: MIT
# anchors.awk - the names that a page's headings have for links, as GitHub makes them
/^```/ { block = ! block }
! block && /^#+ / {
	name = tolower($0)
	sub(/^#+ +/, "", name)
	gsub(/[^a-z0-9 _-]/, "", name)
	gsub(/ /, "-", name)
	print name
}
