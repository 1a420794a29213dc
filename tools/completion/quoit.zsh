#compdef quoit quoitd
# SPDX-License-Identifier: MIT
# quoit.zsh - completion of quoit and quoitd; build.sh replaces @TABLES@ with the tables

_quoit_columns() { # ... COMMAND
	compset -P '*,'
	compset -P '[-+]'
	compadd -S '' -- ${=columns[${@[-1]}]}
}

_quoit_operations() {
	compset -P '*,'
	compadd -S '' -- $operations
}

_quoit_sessions() {
	compadd -- ${(f)"$(_call_program sessions $program ps --no-headers -o session 2>/dev/null)"}
}

_quoit_services() {
	compadd -- ${(f)"$(_call_program services $program ls --no-headers -o service 2>/dev/null)"}
}

_quoit() {
	local -a subcommands operations
	local -A specs columns
	local curcontext=$curcontext state line key ret=1
	local program=$words[1]

@TABLES@

	if [[ $service == quoitd ]]; then
		eval "_arguments -s $specs[quoitd]"
		return
	fi
	_arguments -C '(- *)'{-h,--help}'[list the commands]' '(- *)'{-V,--version}'[print the version]' \
		'1:command:->command' '*::argument:->argument' && ret=0
	case $state in
	command) _describe command subcommands && ret=0 ;;
	argument)
		key=$words[1]
		if ((CURRENT > 2)) && [[ -n "${specs[$key $words[2]]}" ]]; then # a subcommand
			key+=" $words[2]"
			shift words
			((CURRENT--))
		fi
		[[ -z $specs[$key] ]] || eval "_arguments -s -S $specs[$key]" && ret=0
		;;
	esac
	return ret
}

_quoit "$@"
