//! Writes the elements of an SVG.

use super::Theme;
use crate::chart::{At, Chart, HUES, Level};
use crate::sanitise::{sanitise, truncate};
use std::fmt::Write as _;

/// Dashes: the next pattern for each repetition of the colours.
const DASHES: [&str; 4] = ["", "7 3", "2 3", "9 3 2 3"];

/// Room for the title of a file.
const HEADING: f64 = 26.0;

pub(super) struct SvgWriter {
    out: String,
    theme: Theme,
}

impl SvgWriter {
    pub(super) fn new(chart: &Chart, theme: Theme, width: f64, height: f64) -> Self {
        let mut out = String::new();
        let id = &chart.id;
        // A file has its title in the picture; a page has it above.
        let font = theme.font();
        let (height, background) = match theme {
            Theme::Page => (height, String::new()),
            Theme::File => (
                height + HEADING,
                format!(
                    "<rect width=\"{width}\" height=\"{}\" fill=\"#fff\"/>\n<text x=\"8\" y=\"19\" font-size=\"15\" \
                     fill=\"#1b1f24\">{}</text>\n<g transform=\"translate(0 {HEADING})\">\n",
                    height + HEADING,
                    escaped(&chart.title)
                ),
            ),
        };
        let _ = write!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             font-family=\"{font}\" font-size=\"12\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\n\
             <title id=\"{id}-t\">{}</title>\n<desc id=\"{id}-d\">{}</desc>\n{background}",
            escaped(&chart.title),
            escaped(&chart.description)
        );
        SvgWriter { out, theme }
    }

    pub(super) fn finish(mut self) -> String {
        self.out.push_str(match self.theme {
            Theme::Page => "</svg>\n",
            Theme::File => "</g>\n</svg>\n",
        });
        self.out
    }

    pub(super) fn colour_index(&self, colour_index: Option<usize>) -> String {
        match (colour_index, self.theme) {
            (None | Some(usize::MAX), _) => self.theme.faint().to_owned(),
            (Some(colour_index), theme) => theme.hue(colour_index),
        }
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, fill: &str, text: &str) {
        let text = escaped(text);
        let _ = writeln!(
            self.out,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{fill}\">{text}</text>"
        );
    }

    /// An explanatory text.
    pub(super) fn quiet(&mut self, x: f64, y: f64, anchor: &str, text: &str) {
        self.text(x, y, anchor, self.theme.faint(), text);
    }

    /// Starts a group of elements that is moved by `x` and `y`.
    pub(super) fn start_group(&mut self, x: f64, y: f64) {
        let _ = writeln!(self.out, "<g transform=\"translate({x:.1} {y:.1})\">");
    }

    /// Ends the group.
    pub(super) fn end_group(&mut self) {
        self.out.push_str("</g>\n");
    }

    /// A label.
    pub(super) fn word(&mut self, x: f64, y: f64, anchor: &str, text: &str) {
        self.text(x, y, anchor, self.theme.ink(), text);
    }

    /// A thin grid line.
    pub(super) fn rule(&mut self, x1: f64, y1: f64, x2: f64, y2: f64) {
        let grid = self.theme.grid();
        let _ = writeln!(
            self.out,
            "<path d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\" stroke=\"{grid}\" fill=\"none\"/>"
        );
    }

    /// A shaded range.
    pub(super) fn area(&mut self, x: f64, y: f64, width: f64, height: f64, colour_index: Option<usize>) {
        let fill = self.colour_index(colour_index);
        let _ = writeln!(
            self.out,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\" fill-opacity=\"0.12\"/>"
        );
    }

    /// A bar with its description.
    pub(super) fn bar(&mut self, [x, y, width, height]: [f64; 4], colour_index: usize, description: &str) {
        let (fill, description) = (self.colour_index(Some(colour_index)), escaped(description));
        let _ = writeln!(
            self.out,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\"><title>{description}</title></rect>"
        );
    }

    /// A range with its description. Values are visible through it.
    pub(super) fn range(&mut self, [x, y, width, height]: [f64; 4], colour_index: usize, description: &str) {
        let (fill, description) = (self.colour_index(Some(colour_index)), escaped(description));
        let _ = writeln!(
            self.out,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"2\" fill=\"{fill}\" \
             fill-opacity=\"0.35\"><title>{description}</title></rect>"
        );
    }

    /// A measured value: a dot inside its range, or a diamond in the colour of a failure outside.
    pub(super) fn value(&mut self, x: f64, y: f64, is_inside: bool) {
        let background = self.theme.background();
        let _ = if is_inside {
            let ink = self.theme.ink();
            writeln!(
                self.out,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{ink}\" stroke=\"{background}\"/>"
            )
        } else {
            let colour = self.theme.failure();
            writeln!(
                self.out,
                "<path d=\"M{x:.1} {:.1}l5.5 5.5l-5.5 5.5l-5.5 -5.5z\" fill=\"{colour}\" stroke=\"{background}\"/>",
                y - 5.5
            )
        };
    }

    /// An event, with its sign.
    pub(super) fn mark(&mut self, x: f64, top: f64, height: f64, mark: &At, signed: bool) {
        let stroke = self.colour_index(mark.colour_index);
        let sign = if signed {
            format!(
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{stroke}\" font-size=\"10\">{}</text>",
                top - 3.0,
                escaped(&mark.sign)
            )
        } else {
            String::new()
        };
        let _ = writeln!(
            self.out,
            "<g><title>{}</title><path d=\"M{x:.1} {top:.1}v{height:.1}\" stroke=\"{stroke}\" stroke-dasharray=\"2 3\" \
             fill=\"none\"/>{sign}</g>",
            escaped(&mark.label)
        );
    }

    /// A goal.
    pub(super) fn level(&mut self, left: f64, right: f64, y: f64, level: &Level) {
        let stroke = self.colour_index(level.colour_index);
        let _ = writeln!(
            self.out,
            "<path d=\"M{left:.1} {y:.1}H{right:.1}\" stroke=\"{stroke}\" stroke-width=\"1.5\" stroke-dasharray=\"6 4\" fill=\"none\"/>"
        );
        let (background, label) = (self.theme.background(), escaped(&level.label));
        let _ = writeln!(
            self.out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"{stroke}\" stroke=\"{background}\" stroke-width=\"3\" \
             paint-order=\"stroke\">{label}</text>",
            right - 4.0,
            y - 4.0
        );
    }

    /// A stroke along a path.
    pub(super) fn stroke(&mut self, path: &str, colour_index: usize, width: f64, opacity: f64) {
        if path.is_empty() {
            return;
        }
        let stroke = self.colour_index(Some(colour_index));
        let dash = match DASHES[colour_index / HUES.len() % DASHES.len()] {
            "" => String::new(),
            dashes => format!(" stroke-dasharray=\"{dashes}\""),
        };
        let dash = if width > 3.0 { String::new() } else { dash };
        let opacity = if opacity < 1.0 {
            format!(" stroke-opacity=\"{opacity}\"")
        } else {
            String::new()
        };
        let _ = writeln!(
            self.out,
            "<path d=\"{path}\" stroke=\"{stroke}\" stroke-width=\"{width}\" stroke-linecap=\"round\" \
             stroke-linejoin=\"round\"{dash}{opacity} fill=\"none\"/>"
        );
    }

    /// A filled path.
    pub(super) fn fill(&mut self, path: &str, colour_index: usize) {
        if !path.is_empty() {
            let fill = self.colour_index(Some(colour_index));
            let _ = writeln!(self.out, "<path d=\"{path}\" fill=\"{fill}\" fill-opacity=\"0.16\"/>");
        }
    }

    /// The legend: names where [`flow`] put them.
    pub(super) fn legend(&mut self, names: &[Placed], top: f64) {
        for Placed {
            x,
            line,
            name,
            colour_index,
        } in names
        {
            let y = top + 20.0 * *line as f64;
            if *colour_index == usize::MAX {
                self.quiet(*x, y, "start", name);
                continue;
            }
            self.stroke(&format!("M{:.1} {:.1}h18", x, y - 4.0), *colour_index, 2.5, 1.0);
            self.word(x + 24.0, y, "start", name);
        }
    }
}

/// A name of the legend with its position.
pub(super) struct Placed {
    x: f64,
    line: usize,
    name: String,
    colour_index: usize,
}

/// Arranges names in lines of that width; also returns the number of lines.
pub(super) fn flow(names: &[(String, usize)], width: f64) -> (Vec<Placed>, usize) {
    let (mut x, mut line) = (8.0, 0);
    let placed = names.iter().map(|(name, colour_index)| {
        let name = truncate(&sanitise(name), 60);
        let takes = 24.0 + 7.0 * crate::sanitise::width(&name) as f64 + 18.0;
        if x > 8.0 && x + takes > width {
            (x, line) = (8.0, line + 1);
        }
        let at = x;
        x += takes;
        Placed {
            x: at,
            line,
            name,
            colour_index: *colour_index,
        }
    });
    let placed: Vec<Placed> = placed.collect();
    let lines = placed.last().map_or(0, |last| last.line + 1);
    (placed, lines)
}

/// Foreign text, escaped for markup.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in sanitise(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
