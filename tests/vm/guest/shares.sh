# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shares.sh - test what users get beside each other, and see of each other

# Print "USER JOBS" for each user, summed up over sessions.
jobs_of_users() {
	quoit ps -o user,done --no-headers | awk '{ jobs[$1] += $2 } END { for (u in jobs) print u, jobs[u] }' | sort
}

# In two seconds each user gets the part that its share allows, within a tenth.  Other programs on
# this machine take cores away meanwhile, so callers try again.
divided() { # "USER SHARE"...
	jobs_of_users >$work/before
	sleep 2
	jobs_of_users >$work/after
	printf '%s\n' "$@" | sort | join - $work/before | join - $work/after | awk '
		{ user[NR] = $1; share[NR] = $2; shares += $2; jobs[NR] = $4 - $3; all += $4 - $3 }
		END {
			for (i = 1; i <= NR; i++) {
				part = all ? jobs[i] / all * shares / share[i] : 0
				printf "%s has %.3f of its share\n", user[i], part
				if (part < 0.9 || part > 1.1)
					bad = 1
			}
			exit NR < 3 || bad
		}'
}

three_users_three_shares() {
	running 'reactors = 1' '[user bob]' 'share = 300' '[group carol]' 'share = 50'
	begin a 1 alice saturate
	begin b 1 bob saturate
	begin c 1 carol saturate
	await 60 divided 'alice 100' 'bob 300' 'carol 50'
	fails as carol quoit share carol 10000
	says 'until quoitd' quoit share carol 200
	await 60 divided 'alice 100' 'bob 300' 'carol 200'
	quit a
	quit b
	quit c
}

users_seen() { # [as USER]
	"$@" quoit ps -o user --no-headers >$work/users || [ $? -eq 1 ] # nobody, as ps says it
	sort -u $work/users | paste -sd' '
}

ps_by_user() {
	running
	begin a 1 alice stay
	begin b 1 bob stay
	await 30 is 'alice bob' users_seen
	is alice users_seen as alice
	is bob users_seen as bob
	is '' users_seen as carol
	is '' users_seen as eve
	quit a
	quit b
}
