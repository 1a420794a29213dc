# SPDX-License-Identifier: MIT
# texts.awk - what quoit.h says right above its calls: NAME and one line of it, with a tab

/^\/\*/ {
	count = 0
	inside = 1
	sub(/^\/\*+ ?/, "")
}

inside {
	inside = !sub(/ *\*\/$/, "")
	sub(/^ \* ?/, "")
	if ($0 != "" || (count && inside))
		text[++count] = $0
	next
}

/^([A-Za-z].*[ *])quoit_[a-z0-9_]+\(/ {
	match($0, /quoit_[a-z0-9_]+\(/)
	for (i = 1; i <= count; i++)
		print substr($0, RSTART, RLENGTH - 1) "\t" text[i]
}

$0 == "" { count = 0 }
