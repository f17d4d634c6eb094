#!/bin/sh
# reckon report --html, record --html, --open: what is written, where, and what is said when it can't be.
fail() { echo "$*" && exit 1; }
busy='i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done'

"$RECKON" record -q -g -e cpu-clock:u -o a.data sh -c "$busy" 2>why ||
    { echo "nothing can be recorded here: $(tail -n 1 why)" && exit 77; }

# A page is one file: a policy that allows nothing else, the data, no address of anything else.
"$RECKON" report --html a.html a.data >out 2>err || fail "report --html: $(cat err)"
[ ! -s out ] || fail "report --html printed: $(cat out)"
grep -q 'wrote a.html (' err || fail "it does not say what was written: $(cat err)"
head -c 15 a.html | grep -q '<!DOCTYPE html>' || fail "not a page"
grep -q "default-src 'none'; script-src 'sha256-" a.html || fail "no policy"
grep -q '<script type="application/octet-stream" id="data">[A-Za-z0-9+/]\{200,\}=*</script>' a.html || fail "no data"
if grep -oE '(src|href|action)="[^"]*"' a.html | grep -v 'href="data:'; then fail "it refers to something"; fi
# What a page names is only the SVG namespace of its icon.
[ "$(grep -oE 'https?://[a-zA-Z0-9./]*' a.html | sort -u)" = http://www.w3.org/2000/svg ] || fail "it names another address"

# The same by the other ways.
"$RECKON" export --format html -o b.html a.data && cmp a.html b.html || fail "export --format html differs"
"$RECKON" report --html - a.data >c.html 2>err && cmp a.html c.html || fail "--html - differs"
[ ! -s err ] || fail "--html - said: $(cat err)"
"$RECKON" report --html d.html -e cpu-clock:u -i a.data 2>err && [ -s d.html ] || fail "of its only event: $(cat err)"
"$RECKON" report --html d.html -e no-such-event a.data 2>err
[ $? = 2 ] || fail "an event that is not there is no mistake"

# What report reads, a page is made of; what it leaves out is not in it; two of them are a difference.
printf 'a;b;c 5\na;b 3\ne;one_of_many 7\n' >one.folded
printf 'a;b;c 15\na;b 3\ne 1\n' >two.folded
"$RECKON" report --html f.html one.folded 2>err && [ -s f.html ] || fail "folded stacks: $(cat err)"
"$RECKON" report --html g.html --symbol '^a$' one.folded 2>err || fail "a part of it: $(cat err)"
data() { sed -n 's/.*id="data">\([^<]*\)<.*/\1/p' "$1" | base64 -d | gzip -dc; }
data f.html | grep -aq one_of_many || fail "a name is not in the page"
if data g.html | grep -aq one_of_many; then fail "what was left out is in the page"; fi
"$RECKON" diff --html h.html one.folded two.folded >out 2>err && [ -s h.html ] && [ ! -s out ] || fail "diff --html: $(cat err)"
data h.html | grep -aq '"samples":19,.*"before":15' || fail "a difference has both sides: $(data h.html | head -c 600)"

# record: the page of what was just recorded, the command's exit status, and -g without saying so.
"$RECKON" record -q -e cpu-clock:u -o e.data --html e.html sh -c "$busy; exit 3" 2>err
[ $? = 3 ] || fail "the command's exit status is lost"
if grep -q wrote err; then fail "-q said: $(cat err)"; fi
[ -s e.html ] || fail "record --html wrote nothing"
"$RECKON" dump --type sample --json e.data | head -n 1 | grep -q '"chain":\[' || fail "record --html without call chains"
"$RECKON" record -o f.data --html no/such/place.html true 2>err
[ $? = 1 ] || fail "a page that can't be written is no failure"
grep -q 'no/such/place.html: No such file' err || fail "it does not say why: $(cat err)"
[ -s f.data ] || fail "the recording is lost"

# --open starts a browser with the whole path; without one it says what to open.
mkdir bin && printf '#!/bin/sh\necho "$1" >"%s/opened.new" && mv "%s/opened.new" "%s/opened"\n' "$PWD" "$PWD" "$PWD" >bin/xdg-open
chmod +x bin/xdg-open
(unset BROWSER && DISPLAY=:99 PATH=$PWD/bin:$PATH "$RECKON" report --html g.html --open a.data 2>/dev/null) || fail "--open failed"
until [ -f opened ]; do sleep 0.1; done
[ "$(cat opened)" = "$(realpath g.html)" ] || fail "--open opened '$(cat opened)'"
(unset BROWSER && DISPLAY=:99 PATH=$PWD/none "$RECKON" report --html h.html --open a.data 2>err) || fail "--open without a browser failed"
grep -q "no browser could be started.*file://$(realpath h.html)" err || fail "no word of what to open: $(cat err)"

rm opened # where there is no screen, what needs one is not asked in vain; $BROWSER may be one for a terminal
(unset BROWSER DISPLAY WAYLAND_DISPLAY && PATH=$PWD/bin:$PATH "$RECKON" report --html h.html --open a.data 2>err) || fail "--open without a display failed"
grep -q "there is no display here.*file://$(realpath h.html)" err || fail "no word of the display: $(cat err)"
(unset DISPLAY WAYLAND_DISPLAY && BROWSER=$PWD/bin/xdg-open "$RECKON" report --html h.html --open a.data 2>err) || fail "\$BROWSER failed"
until [ -f opened ]; do sleep 0.1; done
[ "$(cat opened)" = "$(realpath h.html)" ] || fail "\$BROWSER opened '$(cat opened)'"

# A recording is not written over: --html without its value would take the file for it.
cp a.data perf.data && cp a.data before.data
for words in "report --html a.data" "report --html perf.data" "diff --html a.data a.data before.data" "export -o a.data a.data" \
        "merge -o a.data a.data before.data" "record --html a.data true"; do
    "$RECKON" $words >out 2>err
    [ $? = 2 ] && grep -q 'is a recording' err || fail "reckon $words: $(cat err)"
    cmp a.data before.data && cmp perf.data before.data || fail "reckon $words: the recording is gone"
done
rm perf.data
"$RECKON" report --tree --csv a.data >out 2>err
[ $? = 2 ] && grep -q 'reckon export --format folded' err || fail "--tree --csv: $(cat err)"
# What can't be written whole is not left behind.
(ulimit -f 1 && trap '' XFSZ && "$RECKON" export --format json -o part.json a.data 2>err) && fail "a full disk is no failure"
[ ! -e part.json ] || fail "a part of an export is left"

# What does not go together.
for words in '--open' '--html - --open' '--html x --csv' '--html x --json'; do
    # shellcheck disable=SC2086
    "$RECKON" report $words a.data >/dev/null 2>err
    [ $? = 2 ] || fail "report $words is no mistake"
done
for words in '--open' '-o - --html x' '--overwrite --html x' '--switch-output 1s --html x'; do
    # shellcheck disable=SC2086
    "$RECKON" record $words true </dev/null >/dev/null 2>err
    [ $? = 2 ] || fail "record $words is no mistake"
done

# No half of a page: a full disk, a closed pipe, no recording, a damaged one.
if [ -c /dev/full ]; then
    "$RECKON" report --html /dev/full a.data 2>err
    [ $? = 1 ] || fail "a full disk is no failure"
    grep -q 'No space left\|no space left' err || fail "a full disk: $(cat err)"
    [ -c /dev/full ] || fail "/dev/full is gone"
fi
(ulimit -f 64 && trap '' XFSZ && "$RECKON" report --html big.html a.data 2>err)
[ $? = 1 ] || fail "a file that may not grow is no failure"
[ ! -e big.html ] || fail "half of a page was left"
"$RECKON" report --html none.html no-such.data 2>err
[ $? = 1 ] && [ ! -e none.html ] || fail "a recording that is not there"
head -c 6000 a.data >cut.data
"$RECKON" report --html cut.html cut.data 2>err
[ -s cut.html ] || grep -q . err || fail "a recording that was cut off: neither a page nor a word"
exit 0
