# SPDX-License-Identifier: MIT
# quoit.bash - completion of quoit and quoitd; the tables at its end are made by build.sh
#
# For each command: its options; the name of the value of those that take one; its operands.

declare -gA _quoit_options _quoit_values _quoit_operands _quoit_words _quoit_columns

# Complete the last element of a list with commas.
_quoit_list() { # WORD CANDIDATES
	local before=${1%"${1##*,}"}

	mapfile -t COMPREPLY < <(compgen -P "$before" -W "$2" -- "${1##*,}")
	compopt -o nospace 2>/dev/null
}

_quoit_files() { # WORD f|d: any files, or only folders
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen "-$2" -- "$1")
}

_quoit_sessions() { # WORD
	mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" ps --no-headers -o session 2>/dev/null)" -- "$1")
}

_quoit_services() { # WORD
	mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" ls --no-headers -o service 2>/dev/null)" -- "$1")
}

_quoit_value() { # COMMAND OPTION WORD
	local sign= columns=${_quoit_columns[${1/#top/ps}]}

	case $2:${_quoit_values[$1 $2]} in
	--sort:*)
		[[ $3 != [-+]* ]] || sign=${3:0:1}
		_quoit_list "${3#[-+]}" "$columns"
		COMPREPLY=("${COMPREPLY[@]/#/$sign}")
		;;
	-o:LIST | --format:LIST) _quoit_list "$3" "$columns" ;;
	--disable:*) _quoit_list "$3" "$_quoit_operations" ;;
	-u:* | --user:*) mapfile -t COMPREPLY < <(compgen -u -- "$3") ;;
	--stats-group:*) mapfile -t COMPREPLY < <(compgen -g -- "$3") ;;
	--session:*) _quoit_sessions "$3" ;;
	*:PATH | *:FILE) _quoit_files "$3" f ;;
	*:DIR) _quoit_files "$3" d ;;
	*) mapfile -t COMPREPLY < <(compgen -W "${_quoit_words[$1 $2]}" -- "$3") ;;
	esac
}

_quoit_operand() { # COMMAND WORD
	case ${_quoit_operands[$1]} in
	*SESSION*) _quoit_sessions "$2" ;;
	*SERVICE*) _quoit_services "$2" ;;
	*USER*) mapfile -t COMPREPLY < <(compgen -u -- "$2") ;;
	*FILE* | *PATH* | *TRACE*) _quoit_files "$2" f ;;
	*) mapfile -t COMPREPLY < <(compgen -W "${_quoit_words[$1]}" -- "$2") ;;
	esac
}

# Set $begin to the index of the word where a command's program begins; options come before it (those of run are quoitd's).
_quoit_find_program() { # COMMAND
	local word names=($1)

	for ((begin = 1 + ${#names[@]}; begin < COMP_CWORD; begin++)); do
		word=${COMP_WORDS[begin]}
		if [[ $word == -- ]]; then
			((begin++))
			return
		fi
		[[ $word == -* ]] || return
		if [[ ${COMP_WORDS[begin + 1]} == = ]]; then
			((begin += 2))
		elif [[ ${_quoit_values[$1 $word]} ]]; then
			((begin++))
		fi
	done
}

_quoit_run() { # COMMAND WORD; true: the word belongs to the program
	local begin

	_quoit_find_program "$1"
	if ((begin < COMP_CWORD)); then
		if declare -F _command_offset >/dev/null; then
			_command_offset "$begin"
		else
			_quoit_files "$2" f
		fi
	elif ((begin == COMP_CWORD)) && [[ $2 != -* || ${COMP_WORDS[begin - 1]} == -- ]]; then
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -c -- "$2")
	else
		return 1
	fi
}

_quoit() {
	local command=quoitd word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}

	COMPREPLY=()
	if [[ ${COMP_WORDS[0]##*/} != quoitd ]]; then
		if ((COMP_CWORD == 1)); then
			mapfile -t COMPREPLY < <(compgen -W "$_quoit_commands --help --version" -- "$word")
			return
		fi
		command=${COMP_WORDS[1]}
		if ((COMP_CWORD > 2)) && [[ ${_quoit_options[$command ${COMP_WORDS[2]}]} ]]; then # a subcommand
			command+=" ${COMP_WORDS[2]}"
		fi
	fi
	[[ ${_quoit_operands[$command]} != *CMD* ]] || ! _quoit_run "$command" "$word" || return 0
	# Bash splits --option=value into three words.
	if [[ $word == = ]]; then
		word=
	elif [[ $option == = ]]; then
		option=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if [[ $option == -* && ${_quoit_values[$command $option]} ]]; then
		_quoit_value "$command" "$option" "$word"
	elif [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "${_quoit_options[$command]}" -- "$word")
	else
		_quoit_operand "$command" "$word"
	fi
}

complete -F _quoit quoit quoitd

