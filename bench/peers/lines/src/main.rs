// Addresses of a file on stdin, in hexadecimal, one a line → functions, lines and inlined functions on stdout, by
// blazesym: built and run by bench/lines.
use std::io::{self, BufRead, BufWriter, Write};

use blazesym::symbolize::source::{Elf, Source};
use blazesym::symbolize::{Input, Symbolized, Symbolizer};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("peer-lines FILE")?;
    let mut addresses = Vec::new();
    for line in io::stdin().lock().lines() {
        addresses.push(u64::from_str_radix(line?.trim().trim_start_matches("0x"), 16)?);
    }
    let source = Source::Elf(Elf::new(path));
    let symbolizer = Symbolizer::builder().enable_code_info(true).enable_inlined_fns(true).build();
    let mut out = BufWriter::new(io::stdout().lock());
    for found in symbolizer.symbolize(&source, Input::VirtOffset(&addresses))? {
        match found {
            Symbolized::Sym(sym) => {
                for inlined in sym.inlined.iter() {
                    let at = inlined.code_info.as_ref();
                    writeln!(out, "{}\n{:?}:{:?}", inlined.name, at.map(|a| a.to_path()), at.and_then(|a| a.line))?;
                }
                let at = sym.code_info.as_ref();
                writeln!(out, "{}\n{:?}:{:?}", sym.name, at.map(|a| a.to_path()), at.and_then(|a| a.line))?;
            }
            Symbolized::Unknown(..) => writeln!(out, "??")?,
        }
    }
    Ok(())
}
