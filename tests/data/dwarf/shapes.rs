// What rustc makes of debug information: code below types, closures, iterators inlined many deep.
use std::collections::HashMap;

trait Area {
    fn area(&self) -> f64;
}

struct Circle(f64);
struct Square {
    side: f64,
}

impl Area for Circle {
    fn area(&self) -> f64 {
        3.14159 * self.0 * self.0
    }
}

impl Area for Square {
    fn area(&self) -> f64 {
        self.side * self.side
    }
}

enum Op {
    Add(i64),
    Mul(i64),
    Neg,
}

impl Op {
    #[inline(never)]
    fn apply(&self, x: i64) -> i64 {
        match self {
            Op::Add(n) => x.wrapping_add(*n),
            Op::Mul(n) => x.wrapping_mul(*n),
            Op::Neg => -x,
        }
    }
}

fn main() {
    let n = std::env::args().count() as i64 + 40;
    let shapes: Vec<Box<dyn Area>> = (0..n)
        .map(|i| -> Box<dyn Area> {
            if i % 2 == 0 { Box::new(Circle(i as f64)) } else { Box::new(Square { side: i as f64 }) }
        })
        .collect();
    let total: f64 = shapes.iter().map(|s| s.area()).filter(|a| *a > 2.0).sum();
    let ops = [Op::Add(3), Op::Mul(7), Op::Neg];
    let x = (0..n).fold(1, |x, i| ops[(i % 3) as usize].apply(x));
    let mut words: HashMap<String, usize> = HashMap::new();
    for i in 0..n {
        *words.entry(format!("w{}", i % 7)).or_default() += 1;
    }
    let mut counts: Vec<_> = words.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    println!("{total} {x} {:?}", counts.first());
}
