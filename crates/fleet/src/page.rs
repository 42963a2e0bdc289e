//! The station page: what a browser fetches to become a station, embedded.
//!
//! Whoever serves it answers a `GET` of each path in [`FILES`] with its bytes, its type, and [`HEADERS`].

/// One file of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File {
    /// Its path on the server: `/`, or below `/station/`.
    pub path: &'static str,
    /// Its media type.
    pub kind: &'static str,
    /// Its content.
    pub bytes: &'static [u8],
}

/// What else every answer says. Nothing is run but the page's own modules, nothing is shown inside other pages, and the
/// token in the address is told to nobody; servers to measure against may be anywhere.
pub const HEADERS: [(&str, &str); 5] = [
    (
        "content-security-policy",
        "default-src 'self'; connect-src *; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    // A new version of the command brings a new page under the same paths.
    ("cache-control", "no-cache"),
    ("cross-origin-resource-policy", "same-origin"),
];

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const MODULE: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

macro_rules! files {
    ($($kind:ident $path:literal $name:literal,)+) => {
        /// All files.
        pub const FILES: &[File] = &[$(File {
            path: $path,
            kind: $kind,
            bytes: include_bytes!(concat!("../../../web/station/", $name)),
        }),+];
    };
}

files! {
    HTML "/" "index.html",
    CSS "/station/style.css" "style.css",
    SVG "/station/icon.svg" "icon.svg",
    MODULE "/station/page.js" "page.js",
}

/// The file at this path, without a query.
#[must_use]
pub fn find(path: &str) -> Option<&'static File> {
    FILES.iter().find(|file| file.path == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_is_one_file() {
        for (index, file) in FILES.iter().enumerate() {
            assert_eq!(find(file.path), Some(file));
            assert!(
                FILES[..index].iter().all(|other| other.path != file.path),
                "{}",
                file.path
            );
            assert!(!file.bytes.is_empty(), "{}", file.path);
        }
        for path in ["", "/station/", "/station/../page.js", "/index.html", "//"] {
            assert_eq!(find(path), None, "{path}");
        }
    }
}
