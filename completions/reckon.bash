# bash completion for reckon. tests/cli/completion.sh compares the options with what --help prints.
_reckon() {
    local verbs='stat compare record report diff merge export archive dump symbolize list doctor' verb='' i
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}

    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "$verbs --help --version" -- "$cur")
        return
    fi
    verb=${COMP_WORDS[1]}

    local options
    local view='-e --event --time -p --pid --thread -c --comm -C --cpu --cgroup --source -d --module -S --symbol --weight --no-inline --symfs --vmlinux --kallsyms --raw'
    case $verb in
    stat)
        options='-e --event -d --detailed -p --pid -t --tid -a --all-cpus -C --cpu -G --cgroup --freeze
            -i --no-inherit -A --no-aggr --per-core --per-die --per-socket --per-node --per-thread -r
            --repeat -I --interval --interval-count -D --delay --timeout --control -n --null -o --output
            --append -j --json --csv -x --field-separator --overhead --dry-run -h --help'
        ;;
    compare) options='-r --runs --time -w --warmup -e --event --reference -n --names -L --parameter-list -P --parameter-scan -D --parameter-step --setup --prepare --cleanup --ignore-failure --shell --input --show-output --seed --json --csv --markdown -h --help' ;;
    record)
        options='-e --event --filter -p --pid -t --tid -a --all-cpus -C --cpu -G --cgroup --all-cgroups -i --no-inherit
            --per-thread -F --freq -c --count -g --call-graph --keep-stacks --no-names --stack-size --max-stack --user-callchains
            --regs -d --data --phys-data -W --weight -b --branch-any -j --branch-filter --off-cpu -D
            --delay --duration --control -k --clockid -m --mmap-pages --overwrite --switch-output -o
            --output -z --compress --html --open --progress -q --quiet -h --help'
        ;;
    report) options="-i --input --by -s --sort --no-children --tree --callers --callees --percent-limit --lines $view --csv --json --html --open -h --help" ;;
    diff) options="--by --normalise --percent-limit --lines $view --csv --json --html --open -h --help" ;;
    merge) options="-o --output --format --label $view -h --help" ;;
    export) options="--format -i --input -o --output $view -h --help" ;;
    archive) options='-i --input -o --output -q --quiet -h --help' ;;
    symbolize) options='-p --pid -e --exe -a --addresses -P --pretty -s --basenames --no-inline --no-demangle --json --symfs --vmlinux --kallsyms -h --help' ;;
    dump) options='-i --input -F --fields --type -e --event -p --pid -t --tid -c --comm -C --cpu --time --stat --json --symfs --vmlinux --kallsyms -h --help' ;;
    list) options='--pmu --all --long --json -h --help' ;;
    doctor) options='--json -h --help' ;;
    *) return ;;
    esac

    case $verb$prev in
    dump-F | dump--fields)
        local fields='comm sym dso srcline symoff brstacksym time cpu pid tid type event mode ip period addr id stream_id chain read trace
            raw branches regs_user regs_intr stack weight data_src transaction phys_addr cgroup data_page_size code_page_size
            aux body' chosen=${cur%"${cur##*,}"}
        mapfile -t COMPREPLY < <(compgen -P "$chosen" -W "$fields" -- "${cur##*,}")
        return
        ;;
    dump--type)
        local types='sample mmap mmap2 comm fork exit lost lost_samples throttle unthrottle read switch switch_cpu_wide
            namespaces ksymbol bpf_event cgroup text_poke aux itrace_start callchain_deferred' listed=${cur%"${cur##*,}"}
        mapfile -t COMPREPLY < <(compgen -P "$listed" -W "$types" -- "${cur##*,}")
        return
        ;;
    dump-[eptcC] | dump--event | dump--pid | dump--tid | dump--comm | dump--cpu | dump--time) return ;;
    stat-e | compare-e | record-e | *--event)
        local events='cycles instructions branches branch-misses cache-references cache-misses ref-cycles
            task-clock cpu-clock page-faults minor-faults major-faults context-switches cpu-migrations'
        local before=${cur%"${cur##*,}"}
        mapfile -t COMPREPLY < <(compgen -P "$before" -W "$events" -- "${cur##*,}")
        return
        ;;
    symbolize-p | symbolize--pid) return ;;
    symbolize-e | symbolize--exe | *-o | *--output | *--html | *--input | *--symfs | *--vmlinux | *--kallsyms | report-i | export-i | archive-i | dump-i)
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        return
        ;;
    *--format)
        mapfile -t COMPREPLY < <(compgen -W 'folded csv json html pprof speedscope firefox perf-script' -- "$cur")
        return
        ;;
    report-s | *--sort)
        mapfile -t COMPREPLY < <(compgen -W 'self total name function line module thread process comm cgroup cpu event source' -- "$cur")
        return
        ;;
    report--weight | diff--weight | merge--weight | export--weight)
        mapfile -t COMPREPLY < <(compgen -W 'event samples' -- "$cur")
        return
        ;;
    *--by)
        mapfile -t COMPREPLY < <(compgen -W 'function line module thread process comm cgroup cpu event source' -- "$cur")
        return
        ;;
    *--normalise)
        mapfile -t COMPREPLY < <(compgen -W 'weight time none' -- "$cur")
        return
        ;;
    report-[pcCdS] | diff-[pcCdS] | merge-[pcCdS] | export-[pcCdS] | *--thread | *--comm | *--cgroup | *--source | *--module | \
        *--symbol | *--callers | *--callees | *--percent-limit) return ;;
    *--pmu)
        mapfile -t COMPREPLY < <(compgen -W "$(ls /sys/bus/event_source/devices 2>/dev/null)" -- "$cur")
        return
        ;;
    stat-p | stat--pid | stat-t | stat--tid | stat-C | stat--cpu | stat-r | stat--repeat | stat-I | stat--interval | \
        stat--interval-count | stat-D | stat--delay | stat--timeout | stat-x | stat--field-separator) return ;;
    record--call-graph)
        mapfile -t COMPREPLY < <(compgen -W 'auto fp dwarf lbr' -- "$cur")
        return
        ;;
    record--regs)
        mapfile -t COMPREPLY < <(compgen -W 'user intr user: intr:' -- "$cur")
        return
        ;;
    record-k | record--clockid)
        mapfile -t COMPREPLY < <(compgen -W 'monotonic monotonic_raw realtime boottime tai' -- "$cur")
        return
        ;;
    record--switch-output)
        mapfile -t COMPREPLY < <(compgen -W 'signal 100M 30s' -- "$cur")
        return
        ;;
    record-j | record--branch-filter)
        mapfile -t COMPREPLY < <(compgen -W 'any any_call any_ret ind_call ind_jmp call cond u k' -- "$cur")
        return
        ;;
    record-p | record--pid | record-t | record--tid | record-C | record--cpu | record-D | record--delay | \
        record--filter | record--stack-size | record--max-stack | record--duration | record-m | record--mmap-pages) return ;;
    *--control)
        mapfile -t COMPREPLY < <(compgen -W 'fifo: fd:' -- "$cur")
        return
        ;;
    *-F | *--freq | *-c | *--count | *--lines) return ;;
    compare-r | compare-w | compare-n | compare-L | compare-P | compare-D | *--runs | *--time | *--warmup | *--names) return ;;
    *--reference | *--parameter-* | *--setup | *--prepare | *--cleanup | *--seed) return ;;
    esac

    if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
    elif [[ $verb == stat || $verb == record ]]; then # the command, then its own words
        for ((i = 2; i < COMP_CWORD; i++)); do
            case ${COMP_WORDS[i]} in
            -e | --event | -F | --freq | -c | --count | -o | --output | -p | --pid | -t | --tid | -C | --cpu | \
                -G | --cgroup | -r | --repeat | -I | --interval | --interval-count | -D | --delay | --timeout | \
                --control | -x | --field-separator | --filter | --call-graph | --stack-size | --max-stack | --regs | -j | \
                --branch-filter | --duration | -k | --clockid | -m | --mmap-pages | --switch-output) ((i++)) ;;
            -*) ;;
            *)
                mapfile -t COMPREPLY < <(compgen -f -- "$cur")
                return
                ;;
            esac
        done
        mapfile -t COMPREPLY < <(compgen -c -- "$cur")
    elif [[ $verb == compare ]]; then # texts, each beginning with a command
        mapfile -t COMPREPLY < <(compgen -c -- "$cur")
    elif [[ $verb != list ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
}
complete -F _reckon reckon
