//! A QR code as text: two modules per character, black on white independent of the terminal's
//! colours.

use qrcode::{Color, EcLevel, QrCode};

/// Light modules around the code (ISO/IEC 18004 §9.1).
const QUIET: usize = 4;

/// The modules of the QR code of a text, with a text for each row: `1` is a dark one. Empty if the text is too long.
pub(crate) fn rows(text: &str) -> Vec<String> {
    let Ok(code) = QrCode::with_error_correction_level(text, EcLevel::L) else {
        return Vec::new();
    };
    let bit = |module: &Color| if *module == Color::Dark { '1' } else { '0' };
    let colours = code.to_colors();
    colours
        .chunks(code.width())
        .map(|row| row.iter().map(bit).collect())
        .collect()
}

/// The QR code of a text; `None` if the text is too long for every version.
pub(super) fn code(text: &str) -> Option<String> {
    let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
    let width = code.width();
    let dark = |x: usize, y: usize| {
        let inside = (QUIET..width + QUIET).contains(&x) && (QUIET..width + QUIET).contains(&y);
        inside && code[(x - QUIET, y - QUIET)] == Color::Dark
    };
    let side = width + 2 * QUIET;
    let mut lines = String::new();
    for y in (0..side).step_by(2) {
        // Black letters on white: the upper half of a character, the lower, both, none.
        lines.push_str("\x1b[30;107m");
        for x in 0..side {
            lines.push(match (dark(x, y), y + 1 < side && dark(x, y + 1)) {
                (true, true) => '█',
                (true, false) => '▀',
                (false, true) => '▄',
                (false, false) => ' ',
            });
        }
        lines.push_str("\x1b[0m\n");
    }
    Some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The modules as the text shows them.
    fn modules(text: &str) -> Vec<Vec<bool>> {
        let mut rows = Vec::new();
        for line in text.lines() {
            let line = line
                .strip_prefix("\x1b[30;107m")
                .unwrap()
                .strip_suffix("\x1b[0m")
                .unwrap();
            rows.push(line.chars().map(|c| matches!(c, '█' | '▀')).collect::<Vec<_>>());
            rows.push(line.chars().map(|c| matches!(c, '█' | '▄')).collect());
        }
        rows
    }

    #[test]
    fn a_camera_reads_the_address() {
        let url = "http://192.168.178.123:4484/#AAECAwQFBgcICQoLDA0ODw.q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s";
        let text = code(url).unwrap();
        let modules = modules(&text);
        let side = modules[0].len();
        // 95 bytes: version 5 holds 106 at level L, version 4 only 78 (ISO/IEC 18004, table 7). 37 modules and two quiet
        // zones, half as many lines: it fits a window of 80 columns and 24 lines.
        assert_eq!(url.len(), 95);
        assert_eq!((side, text.lines().count()), (45, 23));
        // Five pixels a module, as seen by a decoder that is not the encoder's.
        let scale = 5;
        let mut image = rqrr::PreparedImage::prepare_from_greyscale(side * scale, side * scale, |x, y| {
            if modules[y / scale][x / scale] { 0 } else { 255 }
        });
        let grids = image.detect_grids();
        assert_eq!(grids.len(), 1);
        assert_eq!(grids[0].decode().unwrap().1, url);
    }

    #[test]
    fn a_text_that_is_too_long_has_no_qr_code() {
        assert!(code(&"x".repeat(4000)).is_none());
    }
}
