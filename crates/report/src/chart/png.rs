//! A chart as a PNG.

use super::{Chart, Theme, svg};
use resvg::{tiny_skia, usvg};
use std::sync::Arc;

/// The font: DejaVu Sans (`font/LICENSE`), with the letters of Latin, Greek and Cyrillic, and the
/// signs that values need. Other characters are drawn as an empty box, so a picture is the same on
/// every machine.
const FONT: &[u8] = include_bytes!("../../font/DejaVuSans.ttf");

/// Pixels for a unit of the SVG.
const SCALE: f32 = 2.0;

/// The chart as a PNG file on white, twice as large as the SVG.
///
/// # Errors
/// When it cannot be drawn, with the reason. No chart of netburn is known to fail.
pub fn png(chart: &Chart) -> Result<Vec<u8>, String> {
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_data(FONT.to_vec());
    let options = usvg::Options {
        font_family: "DejaVu Sans".to_owned(),
        fontdb: Arc::new(fonts),
        ..usvg::Options::default()
    };
    let tree = usvg::Tree::from_str(&svg(chart, Theme::File), &options).map_err(|error| error.to_string())?;
    let size = tree.size();
    let pixels = |length: f32| (length * SCALE).ceil() as u32;
    let mut canvas =
        tiny_skia::Pixmap::new(pixels(size.width()), pixels(size.height())).ok_or("it has no extent".to_owned())?;
    resvg::render(
        &tree,
        tiny_skia::Transform::from_scale(SCALE, SCALE),
        &mut canvas.as_mut(),
    );
    canvas.encode_png().map_err(|error| error.to_string())
}
