//! Files of `web/`, embedded in the executable.

/// One file of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File {
    /// URL path, without a query.
    pub path: &'static str,
    /// Media type.
    pub kind: &'static str,
    /// Content.
    pub bytes: &'static [u8],
}

/// Media type of a page.
pub const HTML: &str = "text/html; charset=utf-8";
/// Media type of a style sheet.
pub const CSS: &str = "text/css; charset=utf-8";
/// Media type of a JavaScript module.
pub const MODULE: &str = "text/javascript; charset=utf-8";
/// Media type of a drawing.
pub const SVG: &str = "image/svg+xml";

/// Media type of a WebAssembly module.
pub const WASM: &str = "application/wasm";

/// An array of [`File`]s, one per line: media type ([`HTML`], [`CSS`], [`MODULE`], [`SVG`], [`WASM`]), URL path, and
/// name below `web/`.
#[macro_export]
macro_rules! embedded {
    ($($kind:ident $path:literal $name:literal,)+) => {
        &[$($crate::embedded::File {
            path: $path,
            kind: $crate::embedded::$kind,
            bytes: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/web/", $name)),
        }),+]
    };
}

/// Finds a file by its URL path, without a query.
#[must_use]
pub fn find(files: &'static [File], path: &str) -> Option<&'static File> {
    files.iter().find(|file| file.path == path)
}
