//! Man pages in the macros of man(7), from the definitions of the help texts and of the scenario file.

use crate::args::examples::examples;
use clap::{Arg, Command};
use netburn_scenario::{ManualKey, manual_sections};
use std::fmt::Write as _;

/// Maximum length of a line of text, with its escapes.
const LINE: usize = 80;

/// A man page.
#[derive(Debug)]
pub(super) struct Page {
    /// Name of its file, such as `netburn-run.1`.
    pub(super) file: String,
    /// Content.
    pub(super) text: String,
}

/// The pages of `command`, of its subcommands, and of the scenario file. `date` has the form 2026-11-28.
pub(super) fn pages(command: Command, date: &str) -> Vec<Page> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    add(&command, command.get_name(), None, date, &mut pages);
    pages.push(Page {
        file: "netburn-scenario.5".to_owned(),
        text: scenario(date),
    });
    pages
}

fn add(command: &Command, name: &str, parent: Option<&str>, date: &str, pages: &mut Vec<Page>) {
    pages.push(Page {
        file: format!("{name}.1"),
        text: page(command, name, parent, date),
    });
    for sub in subcommands(command) {
        add(sub, &format!("{name}-{}", sub.get_name()), Some(name), date, pages);
    }
}

fn subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    let all = command.get_subcommands();
    all.filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
}

fn page(command: &Command, name: &str, parent: Option<&str>, date: &str) -> String {
    let mut out = Roff::new(name, 1, date);
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    out.heading("NAME");
    out.filled(&format!("{name} - {about}"));
    out.heading("SYNOPSIS");
    synopsis(command, &mut out);
    if let Some(text) = command.get_long_about().or(command.get_about()) {
        out.heading("DESCRIPTION");
        out.blocks(&text.to_string());
    }
    options(command, &mut out);
    let mut subs = subcommands(command).peekable();
    if subs.peek().is_some() {
        out.heading("COMMANDS");
        for sub in subs {
            let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
            let page = format!("{name}-{}", sub.get_name());
            out.item(&format!("{}(1)", bold(&page)), &about);
        }
    }
    let examples = name.strip_prefix("netburn-").map_or(&[][..], examples);
    if !examples.is_empty() {
        out.heading("EXAMPLES");
        for (what, line) in examples {
            out.paragraph(what);
            out.verbatim(&[line]);
        }
    }
    if let Some(text) = command.get_after_help() {
        out.heading("NOTES");
        out.blocks(&text.to_string());
    }
    out.heading("SEE ALSO");
    let parent = parent.map(|parent| format!("{}(1),", bold(parent)));
    for line in parent.into_iter().chain([format!("{}(5)", bold("netburn-scenario"))]) {
        out.line(&line);
    }
    out.text
}

fn shown(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|arg| !arg.is_hide_set())
}

/// The command with its arguments, each with the name of its value.
fn synopsis(command: &Command, out: &mut Roff) {
    let words = command.get_bin_name().unwrap_or(command.get_name());
    out.line(&bold(words));
    for arg in shown(command).filter(|arg| !arg.is_positional()) {
        let text = match (arg.get_long(), arg.get_short()) {
            (Some(long), _) => bold(&format!("--{long}")),
            (None, Some(short)) => bold(&format!("-{short}")),
            (None, None) => continue,
        };
        let text = format!("{text}{}", value(arg));
        let several = if is_repeated(arg) { "..." } else { "" };
        out.line(&if arg.is_required_set() {
            format!("{text}{several}")
        } else {
            format!("[{text}]{several}")
        });
    }
    for arg in shown(command).filter(|arg| arg.is_positional()) {
        let several = if is_repeated(arg) { "..." } else { "" };
        let name = value_name(arg);
        out.line(&if arg.is_required_set() {
            format!("{name}{several}")
        } else {
            format!("[{name}]{several}")
        });
    }
    if subcommands(command).next().is_some() {
        out.line(&italic("COMMAND"));
    }
}

fn is_repeated(arg: &Arg) -> bool {
    let several = arg.get_num_args().is_some_and(|count| count.max_values() > 1);
    several || matches!(arg.get_action(), clap::ArgAction::Append)
}

/// ` VALUE` of an option; empty for a flag.
fn value(arg: &Arg) -> String {
    if arg.get_action().takes_values() {
        format!(" {}", value_name(arg))
    } else {
        String::new()
    }
}

fn value_name(arg: &Arg) -> String {
    match arg.get_value_names() {
        Some(names) => names.iter().map(|name| italic(name)).collect::<Vec<_>>().join(" "),
        None => italic(&arg.get_id().as_str().to_uppercase()),
    }
}

/// Arguments and options, under their headings.
fn options(command: &Command, out: &mut Roff) {
    let mut headings: Vec<Option<&str>> = Vec::new();
    for arg in shown(command) {
        if !headings.contains(&arg.get_help_heading()) {
            headings.push(arg.get_help_heading());
        }
    }
    headings.sort_by_key(Option::is_some);
    if !headings.is_empty() {
        out.heading("OPTIONS");
    }
    for heading in headings {
        if let Some(heading) = heading {
            out.subheading(heading);
        }
        for arg in shown(command).filter(|arg| arg.get_help_heading() == heading) {
            option(arg, out);
        }
    }
}

fn option(arg: &Arg, out: &mut Roff) {
    let names = [
        arg.get_short().map(|short| format!("-{short}")),
        arg.get_long().map(|long| format!("--{long}")),
    ];
    let names: Vec<String> = names.into_iter().flatten().map(|name| bold(&name)).collect();
    let tag = if names.is_empty() {
        value_name(arg)
    } else {
        format!("{}{}", names.join(", "), value(arg))
    };
    let help = arg
        .get_long_help()
        .or(arg.get_help())
        .map(ToString::to_string)
        .unwrap_or_default();
    let defaults = arg.get_default_values().iter().map(|value| value.to_string_lossy());
    let defaults: Vec<_> = defaults.collect();
    let default = if defaults.is_empty() || arg.is_hide_default_value_set() || !arg.get_action().takes_values() {
        String::new()
    } else {
        format!(" [default: {}]", defaults.join(", "))
    };
    out.item(&tag, &format!("{help}{default}"));
    let values = arg.get_possible_values();
    let values = values.iter().filter(|value| !value.is_hide_set());
    if !arg.get_action().takes_values() || arg.is_hide_possible_values_set() {
        return;
    }
    let values: Vec<_> = values.collect();
    if values.is_empty() {
        return;
    }
    out.line(".RS");
    for value in values {
        let help = value.get_help().map(ToString::to_string).unwrap_or_default();
        out.item(&bold(value.get_name()), &help);
    }
    out.line(".RE");
}

/// The page of the scenario file.
fn scenario(date: &str) -> String {
    let mut out = Roff::new("netburn-scenario", 5, date);
    out.heading("NAME");
    out.line(&format!("{} \\- scenario file of netburn", escaped("netburn-scenario")));
    out.heading("DESCRIPTION");
    out.paragraph(
        "A scenario describes a network, its stations, their workloads and their goals. It is a TOML file of up to 1 MiB. \
         Every quantity is a text with its unit, such as \"60 s\", \"25 Mbit/s\", \"128 KiB\", \"-62 dBm\" or \"1 %\". A name has 1 to \
         63 letters, digits or `-`. An unknown key or an invalid value is an error.",
    );
    out.paragraph("The smallest scenario:");
    out.verbatim(&["[station.laptop]", "workload = \"browsing\""]);
    out.heading("KEYS");
    for section in manual_sections() {
        out.subheading(section.header);
        out.paragraph(section.about);
        for key in &section.keys {
            out.item(&bold(key.name), &key_text(key));
        }
    }
    out.heading("SEE ALSO");
    for page in ["netburn-plan", "netburn-run", "netburn-scenarios"] {
        out.line(&format!("{}(1),", bold(page)));
    }
    out.line(&format!("{}(1)", bold("netburn-schema")));
    out.text
}

fn key_text(key: &ManualKey) -> String {
    let environments = match key.environments.as_str() {
        "all" => String::new(),
        some => format!(" Acts on {some} only."),
    };
    format!(
        "{} Value: {}. Default: {}.{environments}",
        key.meaning, key.value, key.default
    )
}

/// Text with the macros of man(7).
struct Roff {
    text: String,
}

impl Roff {
    fn new(name: &str, section: u8, date: &str) -> Self {
        let version = env!("CARGO_PKG_VERSION");
        let title = name.to_uppercase();
        Roff {
            text: format!(".TH {title} {section} {date} \"netburn {version}\" \"netburn manual\"\n"),
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn heading(&mut self, heading: &str) {
        let _ = writeln!(self.text, ".SH {heading}");
    }

    fn subheading(&mut self, heading: &str) {
        let _ = writeln!(self.text, ".SS {}", escaped(heading));
    }

    /// Text in lines of at most [`LINE`] characters, if its words permit it.
    fn filled(&mut self, text: &str) {
        let mut line = String::new();
        for word in words(text) {
            let mut longer = if line.is_empty() {
                word
            } else {
                format!("{line} {word}")
            };
            if line.is_empty() || width(&formatted(&longer)) <= LINE {
                line = longer;
                continue;
            }
            self.line(&formatted(&line));
            line = longer.split_off(line.len() + 1);
        }
        if !line.is_empty() {
            self.line(&formatted(&line));
        }
    }

    fn paragraph(&mut self, text: &str) {
        self.begin_paragraph();
        self.filled(text);
    }

    /// The macro of a paragraph. A heading begins one itself.
    fn begin_paragraph(&mut self) {
        let last = self.text.lines().next_back().unwrap_or_default();
        if !last.starts_with(".SH") && !last.starts_with(".SS") {
            self.line(".PP");
        }
    }

    fn verbatim(&mut self, lines: &[&str]) {
        self.begin_paragraph();
        self.line(".RS 2");
        self.line(".nf");
        for line in lines {
            self.line(&escaped(line));
        }
        self.line(".fi");
        self.line(".RE");
    }

    /// An item of a list. Further paragraphs and lines with an indent are below the first one.
    fn item(&mut self, tag: &str, text: &str) {
        self.line(".TP");
        self.line(tag);
        let blocks = blocks(text);
        let Some((first, rest)) = blocks.split_first() else {
            self.line("\\&");
            return;
        };
        match first {
            Block::Text(text) => self.filled(text),
            Block::Verbatim(_) => self.line("\\&"),
        }
        let rest = if matches!(first, Block::Text(_)) { rest } else { &blocks };
        if rest.is_empty() {
            return;
        }
        self.line(".RS");
        for block in rest {
            self.block(block);
        }
        self.line(".RE");
    }

    /// Paragraphs, and lines that keep their form because they have an indent.
    fn blocks(&mut self, text: &str) {
        for block in blocks(text) {
            self.block(&block);
        }
    }

    fn block(&mut self, block: &Block<'_>) {
        match block {
            Block::Text(text) => self.paragraph(text),
            Block::Verbatim(lines) => self.verbatim(lines),
        }
    }
}

/// Part of a help text.
enum Block<'a> {
    Text(String),
    Verbatim(Vec<&'a str>),
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut is_new = true;
    for line in text.lines() {
        if line.trim().is_empty() {
            is_new = true;
        } else if line.starts_with("  ") {
            match blocks.last_mut() {
                Some(Block::Verbatim(lines)) if !is_new => lines.push(line.trim_end()),
                _ => blocks.push(Block::Verbatim(vec![line.trim_end()])),
            }
            is_new = false;
        } else {
            match blocks.last_mut() {
                Some(Block::Text(text)) if !is_new => {
                    text.push(' ');
                    text.push_str(line);
                }
                _ => blocks.push(Block::Text(line.to_owned())),
            }
            is_new = false;
        }
    }
    blocks
}

/// Words of a text. Code in backquotes is one word.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match words.last_mut() {
            Some(last) if last.matches('`').count() % 2 == 1 => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// Text of a line: without control characters of roff, and with bold code.
fn formatted(line: &str) -> String {
    let parts = line.split('`');
    let text: Vec<String> = if line.matches('`').count().is_multiple_of(2) {
        let part = |(place, part): (usize, &str)| if place % 2 == 1 { bold(part) } else { plain(part) };
        parts.enumerate().map(part).collect()
    } else {
        // Code continues in another line.
        vec![plain(line)]
    };
    protected(text.concat())
}

/// Length of a line of roff: other characters than ASCII become `\[u2212]`.
fn width(line: &str) -> usize {
    line.chars().map(|c| if c.is_ascii() { 1 } else { 8 }).sum()
}

fn plain(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-")
}

/// A line that begins with a control character of roff would be a request.
fn protected(line: String) -> String {
    if line.starts_with(['.', '\'']) {
        format!("\\&{line}")
    } else {
        line
    }
}

fn escaped(line: &str) -> String {
    protected(plain(line))
}

fn bold(text: &str) -> String {
    format!("\\fB{}\\fR", plain(text))
}

fn italic(text: &str) -> String {
    format!("\\fI{}\\fR", plain(text))
}
