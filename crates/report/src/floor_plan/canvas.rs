//! Writes the elements of the drawing.

use super::scale::WIDTH;
use crate::chart::Theme;
use crate::chart::svg::escaped;
use std::fmt::Write as _;

/// Size of the font.
pub(super) const FONT: f64 = 12.0;

/// A document that is being written.
pub(super) struct Canvas {
    out: String,
    theme: Theme,
}

impl Canvas {
    pub(super) fn new(id: &str, title: &str, description: &str, theme: Theme, height: f64) -> Self {
        let mut out = String::new();
        let (font, name) = (theme.font(), escaped(title));
        let _ = write!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" \
             height=\"{height:.0}\" font-family=\"{font}\" font-size=\"{FONT}\" role=\"img\" \
             aria-labelledby=\"{id}-t {id}-d\">\n<title id=\"{id}-t\">{name}</title>\n<desc id=\"{id}-d\">{}</desc>\n",
            escaped(description)
        );
        if theme == Theme::File {
            let _ = writeln!(
                out,
                "<rect width=\"{WIDTH}\" height=\"{height:.0}\" fill=\"{}\"/>\n\
                 <text x=\"8\" y=\"19\" font-size=\"15\" fill=\"{}\">{name}</text>",
                theme.background(),
                theme.ink()
            );
        }
        Canvas { out, theme }
    }

    pub(super) const fn theme(&self) -> Theme {
        self.theme
    }

    pub(super) fn finish(mut self) -> String {
        self.out.push_str("</svg>\n");
        self.out
    }

    /// A text. A border in the colour of the background separates it from lines below it.
    pub(super) fn text(&mut self, x: f64, y: f64, anchor: &str, fill: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        let (text, border) = (escaped(text), self.theme.background());
        let _ = writeln!(
            self.out,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{fill}\" stroke=\"{border}\" \
             stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\">{text}</text>"
        );
    }

    /// An explanatory text.
    pub(super) fn quiet(&mut self, x: f64, y: f64, anchor: &str, text: &str) {
        self.text(x, y, anchor, self.theme.faint(), text);
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: &str, width: f64) {
        let path = format!("M{:.1} {:.1}L{:.1} {:.1}", from.0, from.1, to.0, to.1);
        let _ = writeln!(
            self.out,
            "<path d=\"{path}\" stroke=\"{stroke}\" stroke-width=\"{width}\" stroke-linecap=\"round\" fill=\"none\"/>"
        );
    }

    /// A stroke along a path with a border in the colour of the background.
    pub(super) fn way(&mut self, path: &str, stroke: &str) {
        for (stroke, width) in [(self.theme.background(), 6.0), (stroke, 2.5)] {
            let _ = writeln!(
                self.out,
                "<path d=\"{path}\" stroke=\"{stroke}\" stroke-width=\"{width}\" stroke-linecap=\"round\" \
                 stroke-linejoin=\"round\" fill=\"none\"/>"
            );
        }
    }

    /// A dashed stroke.
    pub(super) fn dashes(&mut self, path: &str, stroke: &str) {
        let _ = writeln!(
            self.out,
            "<path d=\"{path}\" stroke=\"{stroke}\" stroke-width=\"1.5\" stroke-dasharray=\"5 4\" fill=\"none\"/>"
        );
    }

    /// A filled path without a border.
    pub(super) fn fill(&mut self, path: &str, fill: &str, opacity: f64) {
        let _ = writeln!(
            self.out,
            "<path d=\"{path}\" fill=\"{fill}\" fill-opacity=\"{opacity}\"/>"
        );
    }

    /// A filled path with a border in the colour of the background, and a description, which may be empty.
    pub(super) fn sign(&mut self, path: &str, fill: &str, description: &str) {
        let border = self.theme.background();
        let _ = writeln!(
            self.out,
            "<path d=\"{path}\" fill=\"{fill}\" stroke=\"{border}\" stroke-width=\"1.5\">{}</path>",
            titled(description)
        );
    }

    pub(super) fn outline(&mut self, x: f64, y: f64, width: f64, height: f64, stroke: &str) {
        let _ = writeln!(
            self.out,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" stroke=\"{stroke}\" fill=\"none\"/>"
        );
    }

    /// A circle with a border and a description, which may be empty.
    pub(super) fn circle(&mut self, (x, y): (f64, f64), radius: f64, fill: &str, stroke: &str, description: &str) {
        let _ = writeln!(
            self.out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{fill}\" stroke=\"{stroke}\" \
             stroke-width=\"2\">{}</circle>",
            titled(description)
        );
    }
}

/// Title element of a description; empty without one.
fn titled(description: &str) -> String {
    if description.is_empty() {
        return String::new();
    }
    format!("<title>{}</title>", escaped(description))
}
