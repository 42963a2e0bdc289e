//! What a lab costs and how closely it keeps to its model: `cargo bench -p netburn-lab`, on a machine with nothing else to do.
//!
//! Behind `--`, names choose some of the works: `-- idle wire`.
//!
//! This program is also what runs inside: `flow send …` and `flow receive …`.

#[cfg(target_os = "linux")]
#[path = "carry/flow.rs"]
mod flow;
#[cfg(target_os = "linux")]
#[path = "carry/works.rs"]
mod works;

#[cfg(target_os = "linux")]
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        [_, "flow", ref rest @ ..] => flow::run(rest).expect("a flow"),
        // `cargo bench` says that it is a bench.
        [_, ref names @ ..] => works::all(
            &names
                .iter()
                .copied()
                .filter(|name| *name != "--bench")
                .collect::<Vec<_>>(),
        ),
        [] => {}
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("a lab needs Linux");
}
