//! Cost and accuracy of the lab: `cargo bench -p netburn-lab`, on an idle machine.
//!
//! Arguments behind `--` select cases by name: `-- idle wire`.
//!
//! The program also runs inside the lab: `flow send …` and `flow receive …`.

#[cfg(target_os = "linux")]
#[path = "forward/cases.rs"]
mod cases;
#[cfg(target_os = "linux")]
#[path = "forward/flow.rs"]
mod flow;

#[cfg(target_os = "linux")]
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        [_, "flow", ref rest @ ..] => flow::run(rest).expect("a flow"),
        // `cargo bench` passes this argument.
        [_, ref names @ ..] => cases::all(
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
