//! The recording of the demo in the README: the program's output on a terminal, drawn as SVG.

use crate::support::{Bench, pictures};
use crate::terminal::on_terminal;
use std::fmt::Write as _;

/// Columns of the terminal.
const COLUMNS: u16 = 90;
/// Width of a column, and height of a line, in pixels.
const COLUMN: f64 = 7.8;
const LINE: usize = 18;
/// Space around the text, and height of the window's title bar, in pixels.
const MARGIN: usize = 16;
const TITLE: usize = 28;
/// Time between two parts of the output, in s.
const PAUSE: usize = 2;

/// Text with one style: an SGR code (ECMA-48 8.3.117), or none.
#[derive(Debug, PartialEq, Eq)]
struct Run<'a> {
    style: &'a str,
    text: &'a str,
}

/// Splits a line of a terminal's input into runs of one style.
fn runs(line: &str) -> Vec<Run<'_>> {
    let mut runs = Vec::new();
    let mut style = "";
    for (index, part) in line.split("\x1b[").enumerate() {
        let mut text = part;
        if index > 0 {
            let (code, rest) = part.split_once('m').expect("the only escape sequence is SGR");
            (style, text) = (if code == "0" { "" } else { code }, rest);
        }
        if !text.is_empty() {
            runs.push(Run { style, text });
        }
    }
    runs
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Class of a style, as `report::style` maps tones to SGR codes.
fn class(style: &str) -> &'static str {
    match style {
        "" => "",
        "1" => "heading",
        "2" => "quiet",
        "32" => "good",
        "33" => "unreliable",
        "1;31" => "bad",
        other => panic!("the SGR code {other} has no class"),
    }
}

/// Draws a command and its output. Parts of the output, which a heading begins, appear one after the other.
fn drawing(command: &str, output: &str) -> String {
    let lines: Vec<&str> = output.lines().map(|line| line.trim_end_matches('\r')).collect();
    let width = (f64::from(COLUMNS) * COLUMN).ceil() as usize + 2 * MARGIN;
    let height = TITLE + (lines.len() + 1) * LINE + 2 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
         <!-- Drawn by scripts/make-pictures. -->\n\
         <style>\n\
         text {{ font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #d6dde6; white-space: pre }}\n\
         .heading {{ font-weight: bold; fill: #ffffff }} .quiet {{ fill: #8b98a8 }} .good {{ fill: #5fd38d }}\n\
         .unreliable {{ fill: #e6c15a }} .bad {{ font-weight: bold; fill: #ff7b72 }}\n\
         g {{ animation: show 0.01s steps(1) both }} @keyframes show {{ from {{ visibility: hidden }} }}\n\
         @media (prefers-reduced-motion) {{ g {{ animation: none }} }}\n\
         </style>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#161b22\"/>\n"
    );
    for (index, colour) in ["#ff5f57", "#febc2e", "#28c840"].iter().enumerate() {
        let x = MARGIN + 4 + index * 18;
        let _ = writeln!(svg, "<circle cx=\"{x}\" cy=\"16\" r=\"5\" fill=\"{colour}\"/>");
    }
    let prompt = format!("\x1b[2m$\x1b[0m {command}");
    let mut parts = 0;
    for (number, line) in [prompt.as_str()].into_iter().chain(lines).enumerate() {
        let runs = runs(line);
        let begins = number == 1 || runs.first().is_some_and(|run| run.style == "1") || line == "Next:";
        if begins {
            if parts > 0 {
                svg.push_str("</g>\n");
            }
            parts += 1;
            let _ = writeln!(svg, "<g style=\"animation-delay: {}s\">", (parts - 1) * PAUSE + 1);
        }
        let y = TITLE + MARGIN + (number + 1) * LINE - 5;
        let mut column = 0;
        for run in runs {
            let columns = run.text.chars().count();
            if !run.text.trim().is_empty() {
                let _ = writeln!(
                    svg,
                    "<text x=\"{:.1}\" y=\"{y}\" textLength=\"{:.1}\" class=\"{}\" xml:space=\"preserve\">{}</text>",
                    MARGIN as f64 + f64::from(column) * COLUMN,
                    columns as f64 * COLUMN,
                    class(run.style),
                    escaped(run.text)
                );
            }
            column += columns as i32;
        }
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

#[test]
fn the_recording_of_the_demo_is_current() {
    let bench = Bench::new();
    let output = on_terminal(&bench, COLUMNS, &["demo", "--on", "simulate", "--out", "demo"], false);
    let drawn = drawing("netburn demo --on simulate --out demo", &shown(&output));
    assert!(
        drawn.contains("class=\"bad\"") && drawn.contains("1. Problem"),
        "{drawn}"
    );
    pictures::check("demo.svg", &drawn);
}

/// The part of a terminal's input that remains visible. Messages on standard error are left out, and lines of progress are
/// empty at the end.
fn shown(input: &str) -> String {
    let last = |line: &str| line.rsplit('\r').next().unwrap_or_default().trim_end().to_owned();
    let message = |line: &String| line.starts_with("simulating ") || line.starts_with("saved to ");
    let lines = input.lines().map(|line| last(line.trim_end_matches('\r')));
    let lines: Vec<String> = lines.filter(|line| !message(line)).collect();
    lines.join("\n")
}

#[test]
fn a_drawing_has_each_run_at_its_column() {
    assert_eq!(
        runs("ab \x1b[1;31mfail\x1b[0m c"),
        [
            Run { style: "", text: "ab " },
            Run {
                style: "1;31",
                text: "fail"
            },
            Run { style: "", text: " c" }
        ]
    );
    let drawn = drawing("x", "a < b\n\x1b[1m1. Head\x1b[0m\n   \x1b[32mok\x1b[0m");
    // The fourth line of text begins after three columns: 16 + 3 × 7.8 = 39.4.
    assert!(drawn.contains("x=\"39.4\""), "{drawn}");
    assert!(
        drawn.contains("a &lt; b") && drawn.contains("class=\"good\""),
        "{drawn}"
    );
    // Two parts: the output before the first heading, and the heading's.
    assert_eq!(drawn.matches("<g ").count(), 2);
    assert_eq!(drawn.matches("</g>").count(), 2);
}
