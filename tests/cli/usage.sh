#!/bin/sh
# Wrong usage: status 2, a message on stderr that says what and where the help is, nothing on stdout.
set -u
wrong() { # expected text, then the words
    expect=$1
    shift
    "$RECKON" "$@" >out 2>err
    status=$?
    [ $status = 2 ] || { echo "reckon $*: status $status, not 2"; cat err; exit 1; }
    [ ! -s out ] || { echo "reckon $*: something on stdout"; exit 1; }
    grep -qF -e "$expect" err || { echo "reckon $*: no '$expect' in:"; cat err; exit 1; }
}
wrong 'usage: reckon'
wrong "no verb 'sta'; did you mean 'stat'?" sta
wrong "no verb 'xyzzy'" xyzzy
wrong "no verb 'reprot'; did you mean 'report'?" reprot
wrong 'no option --percent-limt; did you mean --percent-limit?' report --percent-limt 3
wrong 'no option --frequncy; did you mean --freq?' record --frequncy 3 true
wrong 'no option --jso; did you mean --json?' stat --jso=x true
for verb in stat record; do
    wrong 'no command to run' $verb
    wrong 'no option --frob' $verb --frob true
    wrong 'no option -Z' $verb -Z true
    wrong '--event wants a value' $verb -e
    wrong 'help: reckon' $verb -e
done
wrong 'is not a number from 1' record -F abc true
wrong 'is not a number from 1' record -F -5 true
wrong 'is not a number from 1' record -c 0 true
wrong '-F and -c exclude each other' record -F 99 -c 100 true
wrong '--json takes no value' stat --json=yes true
wrong 'one recording at a time' report a b
wrong 'takes no word' doctor me
wrong 'is none of function, line' report --by colour
wrong "is none of self, total, name" report --sort colour
wrong '--time wants FROM,TO' report --time 5
wrong '--time wants FROM,TO' report --time 5,3
wrong '--thread wants numbers' report --thread main
wrong '--percent-limit wants' report --percent-limit 101
wrong '--callers and --callees exclude each other' report --callers a --callees b
wrong "no format 'xml'; there are: folded, csv, json, pprof" export --format xml
wrong 'two recordings are compared' diff a
wrong 'is none of weight, time, none' diff --normalise colour a b
wrong 'no file to merge' merge -o out

# Help: status 0, on stdout, every verb.
"$RECKON" --help >out 2>err || exit 1
[ -s out ] && [ ! -s err ] || { echo "--help: not on stdout alone"; exit 1; }
for verb in stat compare record report diff merge export archive dump symbolize list doctor; do
    grep -q "^  $verb " out || { echo "--help does not list $verb"; exit 1; }
    "$RECKON" $verb --help >help 2>err || { echo "$verb --help: status $?"; exit 1; }
    grep -q "^usage: reckon $verb" help && [ ! -s err ] || { echo "$verb --help: wrong"; exit 1; }
done
[ "$("$RECKON" --version)" = "$(printf 'reckon %s' "$("$RECKON" --version | cut -d' ' -f2)")" ] || exit 1
"$RECKON" --version | grep -qE '^reckon [0-9]+\.[0-9]+\.[0-9]+$' || { echo "--version: wrong"; exit 1; }

# Output that can't be written is an error for help and version too.
if [ -w /dev/full ]; then
    for words in --help --version "stat --help"; do
        "$RECKON" $words >/dev/full 2>err
        [ $? = 1 ] && [ -s err ] || { echo "$words to a full disk"; exit 1; }
    done
fi
exit 0
