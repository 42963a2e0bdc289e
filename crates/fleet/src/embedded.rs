//! Files of `web/` that are in the program itself, for whoever serves a page.

/// One file of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File {
    /// Its path on the server, without a query.
    pub path: &'static str,
    /// Its media type.
    pub kind: &'static str,
    /// Its content.
    pub bytes: &'static [u8],
}

/// The media type of a page.
pub const HTML: &str = "text/html; charset=utf-8";
/// The media type of a style sheet.
pub const CSS: &str = "text/css; charset=utf-8";
/// The media type of a module of JavaScript.
pub const MODULE: &str = "text/javascript; charset=utf-8";
/// The media type of a drawing.
pub const SVG: &str = "image/svg+xml";

/// An array of [`File`]s, a line to each: its media type ([`HTML`], [`CSS`], [`MODULE`], [`SVG`]), its path on the server
/// and its name below `web/`.
#[macro_export]
macro_rules! embedded {
    ($($kind:ident $path:literal $name:literal,)+) => {
        &[$($crate::embedded::File {
            path: $path,
            kind: $crate::embedded::$kind,
            bytes: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/", $name)),
        }),+]
    };
}

/// The one of `files` at this path, without a query.
#[must_use]
pub fn find(files: &'static [File], path: &str) -> Option<&'static File> {
    files.iter().find(|file| file.path == path)
}
