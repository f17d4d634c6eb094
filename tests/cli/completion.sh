#!/bin/bash
# The completion offers exactly the options that --help prints, and completes verbs, events and formats.
set -u
. "$SOURCE/completions/reckon.bash"
complete_words() { # the words of a line; the last is being completed
    COMP_WORDS=("$@")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMPREPLY=()
    _reckon
}
for verb in stat compare record report diff merge export archive dump symbolize list doctor; do
    complete_words reckon $verb -
    printf '%s\n' "${COMPREPLY[@]}" | sort >offered
    "$RECKON" $verb --help | grep -E '^  +-' | sed -E 's/^ +//; s/  .*//' | tr ', ' '\n\n' | grep '^-' | sort >printed
    diff offered printed || { echo "reckon $verb: completion (<) and --help (>) differ"; exit 1; }
    complete_words reckon ${verb:0:3}
    printf '%s\n' "${COMPREPLY[@]}" | grep -qx $verb || { echo "verb $verb is not completed"; exit 1; }
done
complete_words reckon stat -e page-faults,cpu-m
[ "${COMPREPLY[*]}" = page-faults,cpu-migrations ] || { echo "events: ${COMPREPLY[*]}"; exit 1; }
complete_words reckon export --format fo
[ "${COMPREPLY[*]}" = folded ] || { echo "formats: ${COMPREPLY[*]}"; exit 1; }
complete_words reckon export --format ''
printf '%s\n' "${COMPREPLY[@]}" | sort >offered
"$RECKON" export --format nonsense 2>&1 | sed -n 's/.*there are: //p' | tr -d ' ' | tr ',' '\n' | sort >printed
diff offered printed || { echo "formats: completion (<) and what there is (>) differ"; exit 1; }
complete_words reckon report --by ''
for word in "${COMPREPLY[@]}"; do
    "$RECKON" report --by $word nothing.data 2>&1 | grep -q 'is none of' && { echo "--by $word is offered, and refused"; exit 1; }
done
complete_words reckon dump -F tid,srcl
[ "${COMPREPLY[*]}" = tid,srcline ] || { echo "fields: ${COMPREPLY[*]}"; exit 1; }
complete_words reckon dump -F ''
printf '%s\n' "${COMPREPLY[@]}" | sort >offered
"$RECKON" dump -F nonsense 2>&1 | sed -n 's/.*there are: //p' | tr ',' '\n' | sort >printed
diff offered printed || { echo "fields of dump: completion (<) and what there is (>) differ"; exit 1; }
complete_words reckon dump --type mmap2,com
[ "${COMPREPLY[*]}" = mmap2,comm ] || { echo "types: ${COMPREPLY[*]}"; exit 1; }
